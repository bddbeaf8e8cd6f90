import heavy
