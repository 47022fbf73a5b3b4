(: The values of stocks that are rated hold or buy. Stock, rating and value are three fragments. :)
stream("stocks")/stocks/stock[rating = ("hold", "buy")]/value
