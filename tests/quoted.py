"""What a page says, with each figure in brackets, against what the rows say."""
import re


def wrong(text, phrase, values):
    """What is wrong with a phrase, of a page without line breaks, as ends of sentences."""
    figures = re.findall(r"\[([0-9.]+)\]", phrase)
    if re.sub(r"[][]", "", phrase) not in text:
        yield f"doesn't say: {phrase}"
    elif len(figures) != len(values):
        yield f"says: {phrase}: {len(values)} figures"
    for figure, value in zip(figures, values):
        unit = 10.0 ** -len(figure.partition(".")[2])
        if abs(value - float(figure)) > 0.5001 * unit:
            yield f"says: {phrase}: it is {value:.6g}"
