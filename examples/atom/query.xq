(: The entries as they are now. :)
declare namespace a = "http://www.w3.org/2005/Atom";
stream("news")//a:entry?[now] ! concat(a:id, " ", a:title)
