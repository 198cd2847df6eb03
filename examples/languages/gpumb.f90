! gpumb.f90 - what saxpy.f90 uses of gpumb.h, for Fortran; other functions likewise. Texts end in
! c_null_char; a NULL is c_null_ptr, or c_null_funptr.
module gpumb
    use iso_c_binding
    implicit none
    integer(c_int), parameter :: GPUMB_TIMING_HOST = 4
    interface
        type(c_ptr) function gpumb_open(argc, argv) bind(c)
            import
            integer(c_int), value :: argc
            type(c_ptr), intent(in) :: argv(*)
        end function
        integer(c_int) function gpumb_close(g) bind(c)
            import
            type(c_ptr), value :: g
        end function
        integer(c_int) function gpumb_run_region(g, name, body, user) bind(c)
            import
            type(c_ptr), value :: g, user
            character(kind=c_char), intent(in) :: name(*)
            type(c_funptr), value :: body ! integer(c_int) function body(g, user) bind(c)
        end function
        subroutine gpumb_set_verify(g, check, user) bind(c)
            import
            type(c_ptr), value :: g, user
            type(c_funptr), value :: check ! the same; 1: right, 0: wrong
        end subroutine
        subroutine gpumb_set_bytes(g, bytes) bind(c)
            import
            type(c_ptr), value :: g
            real(c_double), value :: bytes
        end subroutine
        subroutine gpumb_set_timing(g, timing) bind(c)
            import
            type(c_ptr), value :: g
            integer(c_int), value :: timing
        end subroutine
    end interface
contains
    type(c_ptr) function gpumb_open_command_line() ! gpumb_open() of the program's arguments
        character(1000), target, save :: word(0:98)
        type(c_ptr) :: argv(0:99) = c_null_ptr
        integer :: i
        do i = 0, min(command_argument_count(), 98)
            call get_command_argument(i, word(i))
            word(i) = trim(word(i)) // c_null_char
            argv(i) = c_loc(word(i))
        end do
        gpumb_open_command_line = gpumb_open(i, argv)
    end function
end module
