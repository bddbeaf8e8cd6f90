def confirm_overwrite():
    return input("output folder exists, overwrite? [y/n] ")

confirm_overwrite()
