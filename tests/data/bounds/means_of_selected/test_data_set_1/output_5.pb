B
covarianceJ$—®”?*¶h¿”²¾*¶h¿²&õ@dl?”²¾dl?·×@