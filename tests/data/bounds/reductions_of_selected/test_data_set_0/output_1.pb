B
row_totalsJHk3?Xã¼?#=@ž¥˜>