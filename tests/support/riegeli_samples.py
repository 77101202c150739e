"""Files that Google's Riegeli library wrote, packed into text.

Made with `array_record` 0.8.6, whose files are Riegeli: `ArrayRecordWriter(path, "brotli:6,group_size:2")` and so on,
cut off behind the last of these records, before what is ArrayRecord's own.
"""

from __future__ import annotations

import zlib
from base64 import b85decode

RECORDS = [b"", b"a", b"some words " * 30, bytes(range(256)) * 300, b"end"]
POSITIONS = {
    "brotli": [64, 65, 119, 120, 437],
    "zstd": [64, 65, 129, 130, 479],
    "snappy": [64, 65, 115, 116, 4306],
    "none": [64, 65, 109, 110, 77310],
}
"""By compression, the positions of the records as the chunks have them, two in each."""

_FILES = {
    "brotli": (
        "c-m`TUvQDP!^@rl3LK#H#9fDMCbd6Y2@`)fU--bwjfabh8BjqsuVUk~+F(n5DE|T@%Z4tInny)U5I!SRJc*sDo1uY$k(rU3p&^m^"
        "z$M8^E1Pvri9zKP<5%bhmF($+Y4g&BNF;Hwax*oYVrsa-!hGr$OSGph;{lJ}D<<2eH$*>8-K(>wxACpj?@0~376qqOK5(QI?Ks%5"
        "`&LN!WM;S1%&aVJ4v7UUlL8%Duhkd1GBJoqH6MM*=^`}KY3W5tAF<hopMGR@ni!!p^`xlR)TqT*U-G(5zL~W3rmWxe+mFBgWIh;R"
        "A=G<R_+*IH<g-t?j|S}wTDx-X>imqHth~(J?DsF;yn6TY?Q3}n87VnQS?T#R=FFNmbMEZ;h?uCj$k^!nH}2fJck}LTdkY&YJ4;*Z"
        "{X6#T+P8D>?)r+Fs=CVB>i<9f{QCFv?{9WR2}i>@3YxPLE#m}KBLhwE8tC3Gw6*70Y~i_ikH+d<nY-&GmRCk@|7)@ScjbQh9}E*G"
        "^#=bpjb#&n2JS)SV=oJW*K`*_Lz5X6=xm_SW@cvQW^72!OJN28!Emtu"
    ),
    "zstd": (
        "c-m`TUvQDP!^@rl3LK#H#9fDMCbd6Y2@`)fU--bwjfabh8BjqhyQP6a$G0F!DF0^gR=+0Aj`$)b2%ixuUd6+tu~q-C0+S#}kP*yg"
        "<YZt-6g(dHWLeysIc89mJR;xTvdn)|0W-i$7a~!`&kEMWs>#4`imBlS%c)x|AOVJevm6Xt1d8)>Qx(edi&Bae7#NwDSy<WFIXJnv"
        "d3gEw1q6kJMMTBKB_yS!Wn|^#6%>_}RaDi~H8i!fb#(Rg4GfKpO-#+qEiA39ZEWrA9UPsUU0mJVJv_a<eSH1=0|JABLqfyCBO;@s"
        "V`Agt6B3h>Q&Q8?GcvQXb8_?Y3kr*hOG?YiD=Mq1YijH28ycIMTUy)NJ370%dwTo&Crq3)dCJsj(`U?_HG9t7dGi-6T(o$}(q+q6"
        "tX#Ev&DwSAH*DOrdCS&q+js2TwR_Lreftj_JaqWT(PPI?oIG{<%-M72FI>EI`O4L6*Kgdsb^FfUd-oqaeDwIq(`V0LynOZg&D(eH"
        "KYaZ3`ODXD-+%o4_507?fB%62_g9Nqd%jIrxA=p1cT)1gm-$FRqrrdU^$pcumYyquhBh-Sdbkl$!psb2G6SPDH7^AKF~i3("
    ),
    "snappy": (
        "c-m`TUvQDP!^@rl3LK#H#9fDMCbd6Y2@`)fU--bwjfabh8BhUxE$^@V=B{bnQ2vG2UOG`bw#OGSLHLYN@nTjcCKd)pMn;B2^%+yn"
        "=N!tfG#7wKt<p~E++N$&1JmNA3(-`}!OALdimBlS%c)x+q*0uoo2pQrUzAd;@Q<4Tj(%}7d|_o|U}R!uVP#|I;N;@w;pO8O5EK#?"
        "5fu}ckd%^^k(HBIP*hS@QB_md(A3h_(bdy8Ff=kYF*P%{u(Yzav9+^zaCCBZadmU|@bvQb@%8f$2n-4i2@MO6h>VJkiH(a-NK8sj"
        "Nli=7$jr*l$<50zC@d;2DJ?6nsI024sjaJTXl!b3X>Duo=<Mq5>Fw*EFmcl4DO0CSpD}aR>^XDi&0nx^(c&dbmn~nha@FcJYuByc"
        "uyNDoEnBy3-?4Mo?mc_=?LTnv(BUITj~zd8^3>@wXV0C#aPiXRD_5^wzj5={?K^kx-GA`#(c>pipFMx^^404%Z{NND@bS~<FJHfX"
        "|MBzJ?>~S4{fGGf9|Pkk8bzaM6pf-$G>S&iC>lkhXxN~A42;0u4z>FYL$lvBni@tC8d79<UHI_eLQaMgJkXJczkzZmAG;}L6+wq0"
        "m|-IlER2i{%*@Ojsd*^?Z^q;s"
    ),
    "none": (
        "c-rmSS(FuW90%}w=gvf>Xwjn7WQ2y%rX)jItC12RrG3Uo%hVl}Xj7O7?b4#MR<>58%``<DYP2tCriGXyOUSgG<KB7j<{U3Qe10##"
        "-|u^VFQ0S%kN=VL`sS7zmC_^-t)|gFZfQ>P_^iCSMS0%La@mI$tPW=e{$0b`l?WxI=WmaT?u7-(h2fm}vEi7=9xOVH2?V>g?{s`?"
        "y$UNDv`LD@Nx7jxSvv|6i;h#Gc_3~>%<!GDnHjy);s<7gQ#0d@|7#2cV?wcU#m+gmc!`qdl`4Jy1!c;XD}P~yij^u~RHf?0)vCwW"
        "xFq4ynwMREMXkguuS&YQcAdKQ>R;2K;kAvfYkYn34L3GvdehCf+<M#X&6>AJxufNsty<sJ=I(pi-h1Eu?H*{~;lYlbI(O;Xt$S+P"
        "L+KCqc%)~q-hDFq_6uh|+JC^n#|AzA#NZ)AhYf#n#K@<fekN<wv(Jrw{)HFEj2$<A!o*20O@4XG)M?XSnK5(LtFOKO#+z@=o-_CD"
        "ciw&P{dw~jEL^nsgAYGi^6}DT%U7)YBzslP>NTH!wszh64I4lI;>%5&bHCcMb=&qGJ9q8gv-j(7zTKCXzyH9&L*IRW_=g`0jvW2z"
        "=VQP8`rGfv|M>H-6Mq+;Jaw9%pP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$f"
        "pP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$f"
        "pP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$f"
        "pP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpP!$fpZ~x3vo|grQv1NZp%YFA{;5+*k?vja^Yiob^Yiob^Yiob^Yiob^Yiob^Yiob^Yiob"
        "^Yiob^Yiob^Yiob^YincP5x<#2`x_6O;0Ws`Scx_daP{2p80D>goBYi6wL#{P+FhVGxvicj{"
    ),
}
_MODEL = (
    "c-mE1Wl$Shunr#F-62r4cyNc}4h4!kEfTa)q`13Fakn%S2m~nZP@p)WP~4$NTdc_In|trfdwXWjxBKn>I6uzJx3dv2j~V<}by>i_"
    "CigF<b@WT6$86UA$8Q#s_8xv3@bU)ye=9wfbD+|8dVh)WPrh2R0g%%P2700VlRFUpgSJ?x34qXD2DDuUT6;pk;FFHiWAfnAy=Htr"
    "DT`?_{UF<ckG;#*ffD!W(kN~35t^Q<!33M`(-Q<LU1q{5%y%l~c;oVnD|U2>iRIAQT(KqIKf-X3Tfokx<!RG_rUt<x``JHr=wO8R"
    "rb_Dx?m=*O$nolO4A41=>}S2xZlMhpjf1rErh>)xZto&Htf1h$G7$+2MPs)F2B9koyPNbrvBDJgfp6#sNWl9Hnno-M*FJcZSjTCr"
    "&8XhA1_*zdaO;~vfD#sOac<e04jW_IN$obnkMl<xw7pSyx7@}T^WE5M#=Z-C-}+Lqf1|%$58reNP=tHZ4!`Ey)>CJzX-7;U`|XCk"
    "G-ElqHb{Eou<f?qeh*(&Cg*D^8GkOf!Zbl*jGXYNto%fVGS5DAIQmnRQ6PE*Z!b?Qv$~vPOu}A~cCb{_!iYqZ%51}&j?<#$VQ(|r"
    "g3GuL9uSdV_*^z})*0j#P5s!&gm!G!f%)1XCwuy;o+D(U%(rUF^3`zj*QM&dokfzlL%lvSxTc%(3ugVi-Os32f|Np@n7i#neC9j*"
    "#f&l7`encQv4ZTnS&wS&cDaJc2?jdo;#y)8B!PXI1#Bl;=i(6p)D#)ppzVR&uyQ=oOQPvTWi|Lqvxy3z!kC}X=9qZz9ytJNbZRG_"
    "Al64k9qCoRhD=->`GB`l0W?5#f=gx+9r|wAM|4$}%N^jYHudpHc{12|%ZmBMnq<<3Af~XDp4;bMxeOM@I5w-N8Sl3>?6nDdU)2~m"
    "x<#UVG><}k(09%H1a4o<8-Aye&sLHr+edzJ3gXUJHzICmDBz{Xph+`IF36#ZkdM)Jm~+XE1d|d#^vN*?0f%!ZP6k{4zSOSq^J2VL"
    "f-ra%Odc09G8<xN?8)vyQJDv#!(kH(A5BX{`B>amBC3D6jcWmgiQ#b{@Z<1|3?(tFsxEYZU~U=_D!z77N)FF8%Uyj1lFZmbBhDwQ"
    "C_Y$xVvmYdui5iO9npU5b`jOm&zPKP5R4KnQCN^weZ-Z*@YaqTYxlRva1x~HSULO=`}6Cbl3*21Lo%w^e0@0?L4rR$*M>waWQ!ar"
    "Hwim93bJq9f8hom8%oy+MR_i}ptmTX6hp}00@tN9cu!QNXDw-znS2Pgj)tqPrz*&KVXcpoq?=F#rpyM{gw4X@(T9T&MP;g-cOYrW"
    "6#lwi2JLEJCQoJNTT9$iM_K%Yu}Gd<6)W^$hLBjW)~Z`$Q?f^!vB|*QT1C^4xnD(L9(WU(uK&qG!L7y-sj5V|rKCEm;b5|e6?84m"
    "j^tPuPNB=HlasK-FG{K??{F|#VrBS|>rb#3^tQ_cA7X$#T%w}L3~x8TL-Bp1kbn{-{&}L&?z>|pLUsC8m&0_mauIax^+1ygooDZF"
    "J+$bVot#zkn=M~AXLimCUMQJET(s!YrR(X@4lVHqH|?)mo&^dnyw3<}rsC2N!8Qe;3>$&Z%;aU-;mL=##$zauUSZ&2kp$yX=q=>;"
    "M|)3oaw<>gtN<Lu{Rqm~CfTuAW>wNM{k|X4hoiMYHGg|iashEQn?F=Q)v#gsmioxH4$V`kKt&}5R-ZPG>n;v?+7l1gj^^e-<giI4"
    "h~Wx@of~Y!2$^qn&@0+Un;yUApKHJQa-=f}17nILgmH?4T15}uJ<eI~FetujXgZ0--aZaA^e)xHv0C>&);Us%rNyvGcb&U#s%F=A"
    ">o{-de=?jY&>+avqo%s@WqT-@ZR4s6{JdVJ@2}z>FGa4lUcUI^{otFEsoyBxQtfBAMqGheMGlC>as0&2^KO+LB_X9Y1nqq;Dfi+1"
    "#mU9l-*bF%@Yny|X>NI1HLQwMjQJc2aUC;*Z*76dtz`jP$tSJCtnWRJ7W=19@ugL2y%d%2>k5@&0w+HRv{@*RPP>hr+#}Q%pZG#z"
    "(rl?)$dCBbcH|h@o6Z*8+DICIJa=|^2QHbc8sca|;p;r=0Hfcp$a{h`;#qr^QCb~~@YvSFCh2khQ2=FMjH=c5AKLy?1~||ERR*{z"
    "8r+n&g$J;+kDR|@2K^ceaX=P}XJn46E#8~wId@td3%x*dY1cboLe9pG#RZPmjz3IiWqY^ErDq;KOzZ_kbsCq4V`*Sap(r|D3U%Hp"
    "gVt&E%7KQJ$L+z~^@d5c=S|?~SGVE@QD~k@Cjp?E&`Yt#ueyRX>p${&6C)ZMtaPJ)@?hmCz7~u|yMN+KkzXG86AAD*;&h0%)?p*T"
    "M9Z;*-|Uh#qU-j6u4+CD#DWy%#)V(TmaB1>Vz7YESgw&TjTJ7E`2EU>!Muj6h5fiiAT-%Z^R`K|jS_UJ{=^N3+{xD_C~O6ygXCu-"
    "rva_i!?<xCsI_UK60n~jYQ!L#ypa$+R1jsgf0|*13SIRQERBA3F16%v#-u#_IkIA(IK^Y@i76=v5cSNM5@teD(X0}p2=TvbS9mJc"
    "`5N>5O<B~qq(0j4=hI}EB+O&3ny+F?7E))XRe#{sxEkdRE0dM(h*=zFrzn!>nd>^*&N(n^f74d*G~aa+CvbS@7hNIyCh+6=;m6~("
    "-R)`hp&qW;M@ennAz;O|#h3Q3V82Cr*k_@rVjf=03uOC`Q@HUA3?dWb{+|DEkMAMRonE5d<d&1HeC-MGj0y?2T0dPRn={ydvDmJ-"
    "Z7z{dnUKPz(;-b!)rcXlx}d32uh}r~Y9Pel!rA)Khx(OSmNhgTn7NwYsxhZEIm}?rq|Z6(IKre`8~&!bLb@0a#>z1uAf<OE7SI+K"
    "9D)l}m*re$?<1^Hwx9GkA8WHY5B9{!v~e}b+j*TAgKKAlSS=Ux8rVZ*J^8jej6Un{aG|#FZgi6JN}mz{?$Bwu|8iYBnab986!94@"
    "fBS`*iO@tGnsqCeTU`Fe@#XXt<LLYas<*gLN6%t|2Em7dXe_JQ<GZvl!nHE}TotheRlWg!yoNBqpNLMMp$lqvVupL=coWmrAcx!L"
    "(TaSZc>{o;?5EHHgsI}sOq5|gUhbqE4{nWZX30DvBkVr_r3!RD1pdbColLX*7<fmayN6Ikw@9pBQBe78VGvjTyzm^B(qKL9@2C-w"
    "Lm$!01g)C(YEklNE^5MPWd;sVa~{SU!0MKtQbL`X*eNP7-EtH+K-I&QEYikfwv1QcDfePb==;Y~*U3>ENQUDM5NsPaVXXnHh^={`"
    "@W}KH8Hdhl1#E@vjV8?0I-P1&^Q~(#-rO?W9nZd4S!s`W|0i>#Yp;rSbv9pWXi1pjOyVsCy_Y+d);!G1iC$LpcQ5sRyIBn7nuwFE"
    "=FgwgIu9N*tG}*?lYfQvT+al{J{H}5&o9_>FV@#|==P=UHr4mvT(a?5=;}0pB+77;TfW0^(CC2$K2$<~xlHM(Sny9j3`i|?eY}#t"
    "o<kElY^d_FQIl8i31ig8@cKFT_uGsT9J@Ne>`Wq(6J1w9R`#*uvDhpOm%o`nw`B^pp=DQ+<7q6m)^rI5nue(v(_`e#aeq6Q8OZi_"
    ";^Sjc;^xE<MV#U6Z+!>dUdxh1ABWh-;R&=2h9c+&SBZPJ=)Pb~jrp=&272mfq8#sZ@P8{fW+~VnbuUC?OvzPu4*#0`^t{2ml{=BT"
    "Vb+vrgZ6cFj4BrkLK?N86_thcgYZ!9N7(RVNKl1GkP^FZ-XN4;sj)pBvt7274$EaKA3Vz%8P?`yid2UTvPVcIyn8g0b-djtHjlJ!"
    ";kT1v<I$Pm(H3^Yfy=liDuS4Ryu!z^zMet*LD5yUMul6dz%V~Wr!Pa0+ow6~Kc#7cVdqEwtD4PD4da}c1n#DRW!Nvj3bT<c>0fpX"
    "xLTR|eCftRlO$HsdTpU<;bum@_hcqLW3FnhtNK;1-o%$6d?U}sHKRf3Mst_SwZdp7{dRVhPkL99!SwppR3;!~M^Mzq4%8K}{dFs`"
    "xVzjhrn_od$5kuXSB352A<Jyl?}_}_a$Tn8ChCmK&uh{mYFN^bVqGFYdrdepE+rW+)5qR^n>iNkS#G}$-q9w3W3tHZvAkle7l%BH"
    "!3eJA>Gv;6@?oF6Kd}dL>8EB5NmOp{NPXAg+1Q-Q6IraF!!=YGQ&Up+_^xHW`6>+}94ne$&#JBQ?F0&Wt7^i6R>IlD-m}oz)XIfQ"
    "52qLS!sQG&le$TIm|To^g{40etTnZCMu`-R&Jg>?T4(7>!@ZHmmR{@>qDsO%it<5#?xeo0la>f4wuKorv`yLg=jvr&V9JZkL8jEH"
    "$hk`NOa4;vM92Ip=T}T0onIK4%r7yr11DopRkUeK9`$glNk8J#@Ks86UNsK}YPP}s=UIhajOY0xd)G-4NyHZIi-ln`{OJSS_vSg%"
    "ZuAGl`a^@MWM2*N)mbp7lsE9D9(fzv<P9`!8~OVVeyE#2r%R4Ze_0y<slVZ-5=-o@{}4bCNDIXXuJA$9l_J$u##2Hqy0T<c(s(<5"
    "p>nkoFxQoks!wA+&lR&1g0hz4S76@{>1|YBXCW*#7V!9)2aEXf_u|9lq!Me8GytK2S_C=^qDEN@Y+dq>dnClYO6_>@Qph`cro>)I"
    "8gY{AAD*P+tR{YAH@qH+@^hl#$eu+&Ig}kJSVDW<Nij84{fqN0#mX(0F&ln<V&wr#s<9F}>6d5M3cUwBIo9jzE~>73&v5#A)9NJH"
    "C#=w<i8en%NfEu~8lnRCggj@g%ffq{NoI7{hL*>PH{pxAuABwW-LmqIwYoyw77n}Pa{zsnpLiDL^F-t*i6>%i1shSu!BMQVQG@X="
    ">Z#aq%s1-QcVKi+%M_!RE^bC~4UQ7o()zz8=BM^P>``{?^JHY7KPCm~1Js$6xq@d6OXcznuGGq3gtY{E5}EK*A(9)^UTPXyE-2zz"
    "(tx`ZxDxE%XZOQuW)Jj@W}hsjIeSD{Us`yh(ql{8&b$#*OB^EKc<c`Vo^q}@Y&4G%VWFKH$^0tE{vpo~02hgNhlEbs#NkIwkiBgo"
    "o$=g$6j!t+VmKI&z?9AjtTs=T`Q#Ge==b-b8c7Y@db)cc!KauVj2Ew_SYOrHzsx?$=V^{y&>UiBYgbX3#ysbGx7JrAhDNx&gt6_&"
    "|Gj%ER-sXdRiH|mNIl0UYWIU^&-h99AFESm=sK=4g)x2_uVR+b+7z5@k$`~*;&F%JyrhNOaX17qBYaR_C<I~(0KtV99_cN#jTT6L"
    "yg!h~La!ty9)I!Yx0KnGZ5B)Mq3bRD*uQs4VxLKS{`ye87AH0H-HY!_uka;}6OEsSP<D4XS6t~Z#n{#>ki20fR4bl&!Lx%w?N{O("
    "7hUpkCE0X6BQa9mT9LZs_3~dMbriNY98memdlvPv8pmYfN|CxkLlw?<3)&5o=9-7g<}cmwRwmoAyr~?Hj&LE!Odgr$I+KNld|&<g"
    "vp#<6GL8wdfm~Y8i1j$?vCE}w)BuCD`(2UxM2Uab4c#U<?-nA(fB!c`^8U-)Vxr&zLV3}6aVbJ^P=P2USU?n_T?Q&S65!teZc4R+"
    "M?(e#kP!VXqT--Z0sa?h{x+ih4^KB8U;"
)


def riegeli_file(compression: str) -> bytes:
    """The records of `RECORDS`, compressed in one of the ways of `POSITIONS`."""
    return zlib.decompress(b85decode(_FILES[compression]))


def chunked_model() -> bytes:
    """The model of g26 as a .cpb: its graph in a chunk of its own, all compressed by Brotli."""
    return zlib.decompress(b85decode(_MODEL))
