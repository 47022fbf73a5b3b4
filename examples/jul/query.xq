(: What went wrong, in a log whose root never closes. :)
stream("log")//record[level = "SEVERE"] ! concat(@vtFrom, " ", message)
