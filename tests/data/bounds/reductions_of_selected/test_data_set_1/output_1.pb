B
row_totalsJÀ)Ç¼