# ruff: noqa: E501  (a pattern that is broken at 128 characters is harder to read than one that is not)
"""Sentences that are addressed to a judge or an agent: English and Chinese rules over folded text, one sentence at a time.

A rule asks for several things at once: an imperative (a verb where a clause begins), what it is about (the rubric, earlier
instructions, the score of this very report), and often how much (full marks). Ordinary prose about scores, judges and
instructions has one of them, seldom all. A *strong* rule makes a passage; a *weak* one only next to a strong one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple


class Rule(NamedTuple):
    """A pattern for one way to give a reader orders, and what a sentence must hold before it is worth trying."""

    name: str
    pattern: re.Pattern[str]
    first: tuple[str, ...]
    """Whole words (or stretches with other characters) of which the sentence must have one."""
    then: tuple[str, ...] = ()
    """Stretches of which the sentence must have one as well."""

    def may_be_in(self, sentence: str) -> bool:
        """Whether a folded sentence has what the pattern needs."""
        return any(word in sentence for word in self.first) and (not self.then or any(word in sentence for word in self.then))


def _rule(name: str, pattern: str, first: str, then: str = "") -> Rule:
    parts = {f"{{{key}}}": value for key, value in _PARTS.items()}
    for key, value in parts.items():
        pattern = pattern.replace(key, value)
    return Rule(name, re.compile(pattern), tuple(first.split("|")), tuple(then.split("|")) if then else ())


_GRADER = r"(?:judge|grader|evaluator|assessor|rater|scorer|autograder)s?"
_PARTS = {
    "clause": r"""(?:^[\W\d_]*|[.:;!?(\[{"“”「『（【*_>|—–] ?|, |\b(?:please|kindly|simply|just|now|then|instead|must|should|shall"""
    r"""|always|you (?:will|are to|can|may|need to|have to|are required to|are instructed to|are asked to)|and|do) )['"]?""",
    "start": r"""(?:^[\W\d_]*|[.:;!?(\[{"“”*—–] ?)(?:(?:please|kindly|now|you (?:must|should|will|are to|have to|need to)|immediately)"""
    r"""[, ]+){0,2}""",
    "self": r"(?:this|my|our|the (?:present|above|following|attached|preceding|entire|whole)|the) (?:\w+ )?"
    r"(?:report|article|answer|response|document|essay|paper|submission|text)",
    "top": r"(?:(?:full|perfect|maximum|max(?:imal)?|highest|top|flawless|best) (?:possible |available |allowed |overall )?"
    r"(?:scores?|marks?|grades?|ratings?|points|credit)|\b(?:10|ten) ?(?:/|out of|of) ?(?:10|ten)\b|\b100 ?(?:/|out of) ?100\b"
    r"|\b100 (?:points|percent)\b|(?<!\d)100 ?%|five stars|\b5 ?/ ?5\b)",
    "many": r"(?: [\w'\"*()/%.-]+){0,7}? ['\"*(]{0,3}",
    "give": r"(?:give|assign|award|grant|return|output|record|enter|report|provide|set|rate|score|grade|mark|evaluate|assess"
    r"|answer|respond|reply|emit|produce|write|print|state|label|classify|judge|treat|accept|choose|select|pick)",
    "grader": _GRADER,
    "reader": r"(?:(?:automated|automatic|ai|a\.i\.|llm|language|model|machine|human|expert|embedded|report|text|assigned|grading"
    r"|scoring|evaluating|judging|evaluation|reviewing|research|browsing|assistant|web)[ /-])*"
    rf"(?:{_GRADER}|examiners?|markers?|reviewers?|llms?|language models?|ai(?: (?:models?|systems?|assistants?|agents?"
    r"|judges?|readers?))?|assistants?|chatbots?|agents?|crawlers?|models?)",
    "marked": r"""(?:['"*_\])]*(?:\s*[:,;.!—–)\]*]|\s*$| -| (?:reading|evaluating|grading|scoring|processing|reviewing|of this|who)))""",
    "rules": r"(?:[\w'’]+\s+){0,4}?(?:rubrics?|(?:scoring|grading|evaluation|assessment|marking|judging|rating)\s+(?:\w+\s+)?(?:criteria"
    r"|criterion|guidelines?|instructions?|rules?|scheme|rubrics?|standards?|scales?)|system (?:prompt|message)s?|(?:previous|prior|above"
    r"|earlier|preceding|foregoing|former|original|initial|your|other)\s+(?:\w+\s+){0,2}?(?:instructions?|prompts?|directions|directives?"
    r"|rules|guidelines|orders|criteria|context|messages?)|(?:instructions?|prompts?|directions|rules|guidelines|everything|anything"
    r"|whatever|what|all)\s+(?:that )?(?:you (?:were|have been)|(?:stated |written |said |told |given )?(?:above|before this|previously"
    r"|so far)))",
    "判": r"(?:评审|评委|评分|评判|评估|评测|评价|打分|阅卷|裁判|审核|审阅)(?:专家|老师|人员|员|者|官|模型|系统|助手|器|ai|们)*",
    "分": r"(?:满分|最高(?:的)?(?:分数?|评分|得分|等级)|(?<!\d)(?:10|100|十|一百)\s*分|高分|(?<!\d)10\s*/\s*10|(?<!\d)100\s*/\s*100)",
    "本": r"(?:本|该|此|这份|这篇|这个|以下|上述|整篇|整份)(?:研究)?(?:报告|文章|回答|答案|文本|论文|文档)",
    "请": r"(?:^\W*|[，。；：:！!？、（(「『“\"*]|请|务必|必须|应当|应该|直接|一律|你要|您要|需要)",
}
_SCORES = "score|scores|marks|mark|grade|grades|rating|ratings|points|credit|stars|10/10|100/100|100%|5/5|10 out of|ten out of|100 out of|100 percent"
_WORKS = "report|article|answer|response|document|essay|paper|submission|text"
_GRADERS = (
    "judge|judges|grader|graders|evaluator|evaluators|assessor|assessors|rater|raters|scorer|scorers|autograder|autograders"
)
_READERS = (
    _GRADERS
    + "|examiner|examiners|marker|markers|reviewer|reviewers|llm|llms|ai|assistant|assistants|chatbot|agent|agents|crawler|model|models"
)
_RULES = "rubric|criteri|guideline|instruction|rule|scheme|standard|scale|prompt|message|direction|directive|order|context|above|before|previously|so far|you "
STRONG = (
    _rule(
        "override",
        r"{clause}(?:ignore|disregard|forget|override|bypass|discard|skip|neglect|abandon|pay no attention to|set aside"
        r"|throw (?:out|away))\s+{rules}",
        "ignore|disregard|forget|override|bypass|discard|skip|neglect|abandon|attention|aside|throw",
        _RULES,
    ),
    _rule(
        "override",
        r"{clause}(?:(?:do not|don't|don’t|never) (?:follow|apply|use|obey|consult)|stop (?:following|applying|using))\s+{rules}",
        "follow|apply|use|obey|consult|following|applying|using",
        "do not |don't |don’t |never |stop ",
    ),
    _rule(
        "grade",
        r"{clause}{give}{many}{top}['\"*)]*(?=\s*(?:[.!;,:)\]*]|$|(?:to|for|on|in) (?:{self}|it\b|this\b|me\b|every|all|each|any)"
        r"|regardless|without|no matter|whatever|across|now\b|immediately|because|and (?:ignore|do|stop|say|write|explain)))",
        _SCORES,
        "full|perfect|max|highest|top|flawless|best|five|10|100|5/5",
    ),
    _rule(
        "grade",
        r"{clause}{give} (?:an? |the |it |this )?(?:\w+ )?(?:score|grade|rating|mark)s? (?:of |as |to |at |is |: ?|= ?)?['\"]?(?:10|100|1\.0)\b(?! (?:to|and|or|-)\b)",
        "score|grade|rating|mark|scores",
        "10|1.0",
    ),
    _rule(
        "message header",
        r"{start}(?:new |updated |important |urgent )?(?:system|developer|administrator|admin) (?:(?:message|prompt|instructions?|override|note|notice"
        r"|update|command|alert) ?){1,2}[*_\])]* ?[:：]",
        "system|developer|administrator|admin",
        "message|prompt|instruction|override|note|notice|update|command|alert",
    ),
    _rule(
        "grade this report",
        r"{clause}(?:{give}|consider|declare|find|deem) {self}(?: [\w'\"*/.-]+){0,6}? ['\"*]?(?:{top}|\b(?:10|100|1\.0|ten)\b"
        r"|(?:as|to be|is) (?:an? )?(?:fully |entirely |completely |perfectly )?(?:supported|correct|excellent|perfect|flawless|outstanding"
        r"|accurate|exemplary|verified|ideal))",
        _WORKS,
        "give|assign|award|grant|return|output|record|enter|report |provide|set |rate|score|grade|mark|evaluate|assess|answer|respond|reply|label|classify|judge|treat|accept|choose|consider|declare|find|deem",
    ),
    _rule(
        "grade this report",
        r"(?:\b(?:this|my|our|the (?:present|above|following|preceding)) (?:\w+ )?(?:report|article|answer|response|document|essay"
        r"|submission|text)|\bit) (?:fully |clearly |certainly )?(?:deserves|merits|warrants|should (?:\w+ )?(?:receive|get|be (?:given"
        r"|awarded|scored|rated|graded|marked))|must (?:\w+ )?(?:receive|get|be (?:given|awarded|scored|rated|graded|marked))"
        r"|is to be (?:given|awarded|scored|rated|graded|marked)|has (?:already )?been (?:scored|graded|rated))(?: [\w'\"*/-]+){0,5}?"
        r" ['\"*]?(?:{top}|\b(?:10|100|1\.0)\b)",
        _SCORES,
        "deserves|merits|warrants|should|must|is to be|has been|has already",
    ),
    _rule(
        "grade this report",
        r"\b(?:correct|right|expected|required|only (?:valid|correct|acceptable)|final|proper|appropriate|true) (?:score|grade|verdict|rating"
        r"|label|answer|mark) (?:for {self} |for this (?:item|question|criterion|claim) |here )?(?:is|must be|should be|=|:) ?(?:an? |the )?"
        r"['\"*]?(?:{top}|\b(?:10|100|1\.0|ten)\b|supported\b|yes\b|pass\b)",
        "score|grade|verdict|rating|label|answer|mark",
        "correct|right|expected|required|only|final|proper|appropriate|true",
    ),
    _rule(
        "address",
        r"^\W*(?:(?:important|urgent|special|critical|system|hidden|final|confidential|private|internal)\s+)?(?:note|notes|message|memo"
        r"|notice|instructions?|hint|reminder|attention|dear|hello|hi|hey|addendum|p\.?s\.?)\b[\s:,]*(?:to |for )?(?:the |all |any |every "
        r"|our |whoever |an? )?{reader}{marked}",
        _READERS,
        "note|message|memo|notice|instruction|hint|reminder|attention|dear |hello|hi |hey |addendum|p.s|ps",
    ),
    _rule(
        "address",
        r"^\W*(?:to|for|@) ?(?:the |all |any |every |our |an? )?(?:(?:automated|automatic|ai|llm|language|model|embedded|grading|scoring)"
        r"[ /-])*{grader}(?: (?:models?|systems?|agents?))?['\"*_]*\s*(?::|—|–|$)",
        _GRADERS,
        "to |for |@",
    ),
    _rule(
        "role",
        r"(?:^\W*|, |\b(?:and|but) )(?:if|since|as|because|when) you(?:['’]re| are) (?:an? |the |any )?(?:\w+[ -]){0,3}?(?:ai|llm|language model"
        r"|{grader}|assistant|bot|agent|automated)\b",
        "you|you're",
        "if you|since you|as you|because you|when you",
    ),
    _rule(
        "role",
        r"^\W*as (?:an? |the )(?:\w+[ -]){0,2}?(?:{grader}|ai|llm|language model|assistant)\b[^.]{0,30}?,? you (?:must|should|will|are"
        r"|have|need|can)\b",
        "you",
        "as a|as the",
    ),
    _rule(
        "role",
        r"{start}(?:from now on,? )?(?:you are (?:now|no longer|hereby)|you will now (?:act|behave|respond)|(?:act|behave|pretend) (?:as if"
        r"|as though|that|to be|as) (?:you|an?|the) )\b(?=.{0,80}\b(?:{grader}|assistant|ai|model|llm|report|rubric|instruct\w+|restrict\w+"
        r"|mode)\b)",
        "you|act|behave|pretend",
        "judge|grader|evaluator|assessor|rater|scorer|assistant|ai|model|llm|report|rubric|instruct|restrict|mode",
    ),
    _rule(
        "role",
        r"\b(?:ai|llm|automated|language[- ]model|browsing|research) (?:agents?|assistants?|models?|{grader}|systems?|crawlers?|readers?|bots?)"
        r",? (?:reading|visiting|processing|evaluating|grading|scoring|reviewing|browsing|(?:that|who) (?:reads?|process(?:es)?|evaluates?"
        r"|visits?|grades?|scores?|opens?)) (?:this|the (?:present|current))\b",
        "reading|visiting|processing|evaluating|grading|scoring|reviewing|browsing|reads|processes|evaluates|visits|grades|scores|opens|read|process|visit|open|grade|score|evaluate",
        "this |the present|the current",
    ),
    _rule(
        "demand",
        r"\b(?:{grader}|the (?:ai|llm|model)|(?:ai|llm|language) (?:models?|agents?|assistants?)) (?:must|should|shall|has to|have to"
        r"|(?:is|are) (?:required|instructed|ordered|asked|told) to|will)(?: now| always| therefore)? (?:{give}|ignore|disregard|stop)"
        r"(?: [\w'\"*/.-]+){0,6}? ['\"*]?(?:{self}|{top}|rubrics?|(?:previous|prior|above|earlier) instructions)",
        _GRADERS + "|ai|llm|model|models|agents|assistants",
        "must|should|shall|has to|have to|required to|instructed to|ordered to|asked to|told to|will",
    ),
    _rule(
        "tool order",
        r"{clause}(?:(?:call|invoke|run|execute|use|trigger)\s+(?:the |your )?['\"`*]*(?:page_visit|web_search|calculate)\b"
        r"|(?:call|invoke)\s+(?:the |your )(?:\w+ )?tools?\b|use your (?:\w+ )?tools?\b)",
        "tool|tools|page_visit|web_search|calculate",
        "call|invoke|run|execute|use|trigger",
    ),
    _rule(
        "leak",
        r"\b(?:send|post|submit|append|include|attach|forward|leak|paste|put|encode|add|upload|transmit|exfiltrate)(?:ing)?\s+(?:[\w-]+\s+)"
        r"{0,3}?(?:your|the (?:full|whole|entire|complete|system|contents?|text)|this)\s+(?:[\w-]+\s+){0,3}?(?:prompts?|instructions?|report"
        r"|conversation|context|answers?|notes|chat|history|credentials|api keys?|keys?|rubrics?|scores?|task|findings)\b"
        r"(?=.{0,300}(?:https?:/|\burls?\b|\baddress\b|query|parameter|webhook|endpoint|\blink\b))",
        "send|post|submit|append|include|attach|forward|leak|paste|put|encode|add|upload|transmit|exfiltrate|sending|posting|submitting|appending|attaching|pasting",
        "your |prompt|rubric|the full|the whole|the entire|the complete|the system|the content|the text|this ",
    ),
    _rule(
        "leak",
        r"{start}(?:visit|open|fetch|load|request|browse to|navigate to|go to|retrieve|access|query|call)\s+(?:\w+ ){0,3}?\S{0,3}https?:/.{0,300}"
        r"(?:\bbefore (?:you )?(?:answer|grad|scor|continu|judg|evaluat|finish|decid)|\bwith (?:your|the full|the entire)\b"
        r"|=(?:\{|<|\[|%7b|\$|your)|\bto (?:confirm|verify|get|receive|unlock|obtain|complete|report) (?:your|this|the) (?:evaluation"
        r"|instructions|verdict|scor\w+|grading|rubric|task|identity|progress|result))",
        "visit|open|fetch|load|request|browse|navigate|go|retrieve|access|query|call",
        "http",
    ),
    _rule(
        "stop",
        r"{start}(?:stop|end|halt|terminate|abort|cease|conclude|finish|cancel)\s+(?:\w+\s+){0,2}?(?:(?:the |this |your |all )(?:evaluation"
        r"|grading|scoring|judging|investigation|assessment|verification|fact-check\w*)|evaluating|grading|scoring|judging|your (?:\w+ )?(?:task"
        r"|work|turn|research|search|session|run)|this (?:task|session|conversation))\b",
        "stop|end|halt|terminate|abort|cease|conclude|finish|cancel",
        "evaluat|grading|scoring|judging|investigation|assessment|verification|fact-check|your |this task|this session|this conversation",
    ),
    _rule(
        "stop",
        r"{start}(?:do not|don['’]t|never) (?:visit|open|search|read|check|verify|consult|call|use|look up|fetch)\s+(?:for )?(?:any |other |further "
        r"|more |additional |the |its |these )+(?:other |further |more )?(?:pages?|sources?|tools?|sites?|websites?|citations?|references?"
        r"|claims?)\b",
        "visit|open|search|read|check|verify|consult|call|use|fetch|look",
        "do not |don't |don’t |never ",
    ),
    _rule(
        "override",
        r"{请}(?:忽略|无视|忘记|忘掉|不要遵循|不要遵守|不要理会|不必理会|不用理会|不必遵守|跳过|抛开|绕过|放弃)[^。！？\n]{0,14}?(?:指令|指示|提示词?|规则|评分|评价|"
        r"评判|评审|打分|标准|要求|说明|量表|细则)",
        "忽略|无视|忘|不要|不必|不用|跳过|抛开|绕过|放弃",
    ),
    _rule(
        "grade",
        r"{请}(?:请|直接|一律|统一|务必|必须){0,4}(?:给予?|打|评为?|评定为?|判为?|判定为?|输出|返回|填写?|授予|记|标记为)[^。！？\n]{0,12}?{分}(?=[。！!；;，,）)”\"]|$|而|并"
        r"|，|无论|不要|给{本})(?<!高分)",
        "满分|最高|10分|10 分|100分|100 分|十分|一百分|高分|10/10|100/100",
    ),
    _rule(
        "grade this report",
        r"{本}[^。！？\n]{0,8}?(?:应得|应获|应该?(?:得到|获得|给|被评为)|值得|理应|必须(?:获得|得到|给|评为)|打|评为?|判为?|给)[^。！？\n]{0,8}?{分}",
        "满分|最高|10分|10 分|100分|100 分|十分|一百分|高分|10/10|100/100",
    ),
    _rule("grade this report", r"(?:给|对|将|把|为){本}[^。！？\n]{0,8}?(?:打|评|判|标记)[^。！？\n]{0,8}?(?:{分}|优秀|完全支持|正确)", "报告|文章|回答|答案|文本|论文|文档"),
    _rule("address", r"^\W*(?:尊敬的|亲爱的|致|告|写给|请注意|注意|提醒|给)?\W{0,2}(?:各位|所有|全体)?(?:ai|人工智能|自动|大模型|语言模型)?(?:{判}|大模型|语言模型|ai\s*(?:助手|模型|代理|智能体))(?:请注意|您好|你好|注意)?\s*[：:，,！!]", "评审|评委|评分|评判|评估|评测|评价|打分|阅卷|裁判|审核|审阅|模型|ai"),
    _rule("role", r"(?:如果|若|既然|因为|由于)?你(?:现在)?是(?:一个|一名|一位)?[^。！？\n]{0,10}?(?:评审|评委|评分|评估|评测|打分|语言模型|大模型|ai|人工智能|助手)", "你"),
    _rule("demand", r"(?:{判}|大模型|语言模型|ai)(?:必须|应当|应该|务必|需要|需|请)[^。！？\n]{0,10}?(?:给|打|评|判|忽略|无视|输出)[^。！？\n]{0,10}?(?:{分}|{本}|标准|指令)", "评审|评委|评分|评判|评估|评测|评价|打分|阅卷|裁判|模型"),
    _rule("stop", r"{请}(?:立即|马上|现在)?(?:停止|结束|终止|中止)(?:你的|本次|所有|对本报告的)?(?:评估|评测|评审|评分|打分|调查|搜索|检索|核查|核实|任务)", "停止|结束|终止|中止"),
    _rule("stop", r"{请}(?:不要|不必|无需|禁止|切勿)(?:再)?(?:打开|访问|检索|搜索|核查|核实|验证|查证|调用)[^。！？\n]{0,6}?(?:页面|网页|来源|链接|引用|工具|网站)", "不要|不必|无需|禁止|切勿"),
    _rule("tool order", r"(?:^\W*|请|务必|必须)(?:立即|马上|先)?(?:调用|使用|运行|执行)(?:你的)?\s*['\"`]?(?:page_visit|web_search|calculate|工具)", "page_visit|web_search|calculate|工具"),
    _rule("leak", r"(?:把|将)[^。！？\n]{0,12}?(?:提示词?|指令|报告|对话|上下文|答案|密钥|评分标准)[^。！？\n]{0,12}?(?:发送|提交|上传|附加|拼接|发到|传给)", "提示|指令|报告|对话|上下文|答案|密钥|评分"),
)  # fmt: skip
WEAK = (
    _rule(
        "verdict line",
        r"^\W*(?:final |overall |total |the |correct |expected |your )*(?:score|rating|grade|verdict|mark|label|points)\W{0,4}(?:is|=|:|of|should be"
        r"|must be)?\W{0,4}(?:{top}|\b(?:10|100|1\.0)\b|full|perfect|maximum|supported|pass|yes)\b.{0,20}$",
        "score|rating|grade|verdict|mark|label|points",
    ),
    _rule("verdict line", r"^\W*(?:reason|rationale|explanation|justification)\s*[:：]", "reason|rationale|explanation|justification"),
    _rule(
        "praise",
        r"\b(?:evaluation|grading|scoring|assessment|judging) (?:is|has|was)\b.{0,30}\b(?:finished|completed?|over|ended|done|closed)",
        "evaluation|grading|scoring|assessment|judging",
    ),
    _rule(
        "praise",
        r"\b(?:this|my|our|the) (?:report|article|answer|response|submission)\b.{0,60}\b(?:meets|satisfies|fulfils|fulfills|exceeds|is|was|has"
        r"|contains|deserves)\b",
        "report|article|answer|response|submission",
    ),
    _rule("praise", r"\b(?:all|every|each)(?: of)?(?: the| its| these)? (?:\w+ )?(?:claims?|citations?|criteri(?:a|on)|facts?|statements?|dimensions?|sources?|requirements?)\b.{0,40}\b(?:met|verified|supported|correct|true|checked|satisfied|accurate)", "claim|citation|criteri|fact|statement|dimension|source|requirement"),
    _rule("role header", r"^\W*(?:system|assistant|human|user|developer|admin)\s*:", "system|assistant|human|user|developer|admin"),
    _rule("order", r"{start}(?:ignore|disregard|answer|respond|reply|return|output|score|rate|grade|mark|do not|decode|obey|comply|remember)\b", "ignore|disregard|answer|respond|reply|return|output|score|rate|grade|mark|not|decode|obey|comply|remember"),
    _rule("order", r"(?:评分|得分|分数|结论|判定)\s*[:：为是]|{本}|无需|不要|直接|请", "评分|得分|分数|结论|判定|报告|文章|回答|无需|不要|直接|请"),
)  # fmt: skip


def first_match(rules: Sequence[Rule], sentence: str) -> tuple[str, int, int] | None:
    """Name and stretch of the first rule that a folded sentence meets; the sentence begins where its words begin."""
    for rule in rules:
        if rule.may_be_in(sentence) and (match := rule.pattern.search(sentence)):
            return rule.name, *match.span()
    return None
