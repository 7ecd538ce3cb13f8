BvariableJ4^S’½WM@¿WM@¿\u…¾º®S¿
¨“¿^S’½G{?WM@¿^S’½9€?`ïM;`ïM;