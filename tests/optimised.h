/* optimised.h - included before all else, it takes gpumb.h's pragmas away: host C++ that they leave
 * unoptimised is optimised like the rest. */
#pragma GCC system_header /* the next line is warned of elsewhere */
#define _Pragma(text)
