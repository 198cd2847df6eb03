! saxpy.f90 - a loop of Fortran, checked and timed: on the CPU by gfortran, on a GPU by
! nvfortran -stdpar=gpu. gpumb.o is the header's implementation.
module loops
    use gpumb
    implicit none
    integer, parameter :: n = 1000000
    real :: x(n) = 1, y(n) = 3, z(n) = 0
contains
    integer(c_int) function body(g, user) bind(c) ! as often as it takes
        type(c_ptr), value :: g, user
        integer :: i
        do concurrent (i = 1:n)
            z(i) = 2 * x(i) + y(i)
        end do
        body = 0
    end function

    integer(c_int) function check(g, user) bind(c) ! after the first run, and after the last
        type(c_ptr), value :: g, user
        check = merge(1, 0, all(abs(z - 5) < 1e-6))
        z = 0
    end function
end module

program saxpy
    use loops
    implicit none
    type(c_ptr) :: g
    integer(c_int) :: code
    g = gpumb_open_command_line()
    call gpumb_set_verify(g, c_funloc(check), c_null_ptr)
    call gpumb_set_bytes(g, 12d0 * n) ! two read, one written
    call gpumb_set_timing(g, GPUMB_TIMING_HOST) ! a loop has ended when the next statement runs
    code = gpumb_run_region(g, 'saxpy' // c_null_char, c_funloc(body), c_null_ptr)
    code = gpumb_close(g)
    call exit(code)
end program
