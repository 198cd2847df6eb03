// test_default_forms.cu - test_listed_forms.cu with nothing listed: every reduction and n-body form
// is refused, by the object of the implementation.
// shares the GPU: results are compared, not times
#define NOTHING_LISTED
#include "tests/test_listed_forms.cu"
