"""Words that would run, break out, hide or swell where a page takes them for more than text."""

from __future__ import annotations

INJECTED = {
    "script end": "</script><script>window.hacked=1</script>",
    "script end in capitals": "</SCRIPT ><ScRiPt>window.hacked=2</sCrIpT >",
    "image": '<img src=x onerror="window.hacked=3">',
    "image without quotes": "<img/src=`x`onerror=window.hacked=4>",
    "vector image": "<svg onload=window.hacked=5><svg/onload=window.hacked=5>",
    "attribute, double quote": '" onmouseover="window.hacked=6" autofocus onfocus="window.hacked=6',
    "attribute, single quote": "' onmouseover='window.hacked=7' autofocus onfocus='window.hacked=7",
    "attribute, end of tag": '"><img src=x onerror=window.hacked=8>',
    "address": "javascript:window.hacked=9//",
    "link": '<a href="javascript:window.hacked=10">here</a>',
    "frame": '<iframe srcdoc="<script>parent.hacked=11</script>"></iframe>',
    "style": "</style><style>*{display:none!important}</style>",
    "style value": "red;} * {display:none} /*",
    "style address": "background:url(https://example.org/x.png)",
    "remote": '<link rel=stylesheet href="https://example.org/x.css"><base href="https://example.org/">',
    "title end": "</title></textarea></noscript><script>window.hacked=12</script>",
    "template": "{{ 7*7 }} {% raw %} {# note #} {{ ''.__class__ }} {% endraw %}",
    "template literal": "${7*7} `${window.hacked=13}` \\${7*7}",
    "string end": "\\\"; window.hacked=14; // '; window.hacked=14; //",
    "comment": "<!-- <script> --> <!--<script>window.hacked=15",
    "character data": "<![CDATA[ <script>window.hacked=16</script> ]]> ]]>",
    "entities": "&lt;img src=x onerror=window.hacked=17&gt; &#60;b&#62; &amp;amp;",
    "quotes": "\"double\" 'single' `back` “curly” «angle» ‘one’",
    "plotly label": '<b>bold</b><br><a href="javascript:window.hacked=18">a</a> %{x} %{customdata}',
    "form": '<form action="https://example.org"><button autofocus>Send</button></form>',
    "meta": '<meta http-equiv="refresh" content="0;url=https://example.org">',
    "known names": "__proto__ constructor hasOwnProperty toString",
    "markdown": "| a | b | \\ $x$ _y_ %z% *w* #1 ~2~ [l](javascript:window.hacked=19)",
}

ODD = {
    "nul": "before\0after",
    "controls": "".join(map(chr, range(1, 32))) + "\x7f\x80\x85\x9f",
    "right to left": "\u202egnp.exe\u202c \u2066isolated \u2067again",
    "lone surrogates": "\ud800 high \udfff low \udc80\ud83d",
    "line ends": "one\r\ntwo\rthree\u2028four\u2029five\x0bsix",
    "not characters": "\ufffe\uffff\U0010ffff\ufeff",
    "joined": "👩‍👩‍👧‍👦 é e\u0301 ﷽ 𒐫",
    "empty": "",
    "blank": " \t\n ",
}

MILLION = 1_000_000
HUGE = {
    "one line": "x" * MILLION,
    "combining marks": "a" + "\u0301" * MILLION,
    "one line of tags": "<b>" * (MILLION // 3),
    "lines": "\n" * MILLION,
}
