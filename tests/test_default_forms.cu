// test_default_forms.cu - test_listed_forms.cu with nothing listed: every reduction and n-body form
// is refused.
// shares the GPU: results are compared, not times
#define NOTHING_LISTED
#define GPUMB_IMPLEMENTATION
#include "tests/test_listed_forms.cu"
