B
covarianceJ$(h@U@;А xFїU@;АлЬDAця? xFїця?A\Ю@