"""Made-up prose: real words of one field, in sentences without meaning, from a fixed seed."""

from __future__ import annotations

import random
from collections.abc import Sequence

LATIN = """
anchor ballast barge beacon berth bollard bridge buoy cabin cable canal captain cargo channel
charter coast compass consignment container convoy crane crew current customs deck delivery
depth derrick dock draught dredger duty engine estuary ferry freight frigate galley gangway
harbour hatch haven hawser helm hold hull inlet island jetty keel knot ladder lagoon lantern
launch ledger lighthouse lock manifest mast master merchant mooring mutiny navigator notice
officer outpost paddle passage passenger permit pier pilot plank pontoon port provision pump
quarter quay queue radar raft receipt reef register regulation rigging river route rudder sailor
salvage schedule schooner shelter shipment shipyard signal skipper slipway sluice sounding
spar steamer stern stevedore storage strait tanker tariff terminal tide timber toll tonnage
towline trade transit traveller trawler tugboat upkeep vessel voyage warehouse watch waterway
weather wharf winch window
""".split()
_JOINERS = "and for beside under from with before after until because when while over".split()

ARABIC = """
السفينة الميناء البحر القبطان الشحنة الرصيف المرسى الملاح البضاعة التاجر المخزن الرحلة الموجة
الريح الشراع المرفأ الجزيرة الساحل القناة المنارة السجل الرسوم التصريح الحمولة الطاقم العاصفة
البوصلة الخريطة المستودع الرافعة
""".split()
DEVANAGARI = """
जहाज़ बंदरगाह समुद्र कप्तान माल घाट लंगर नाविक व्यापारी गोदाम यात्रा लहर हवा पाल द्वीप तट नहर
प्रकाशस्तंभ पंजी शुल्क अनुमति भार चालक तूफ़ान नक्शा भंडार क्रेन नदी पुल रस्सी
""".split()
THAI = """
เรือ ท่าเรือ ทะเล กัปตัน สินค้า สมอ ลูกเรือ พ่อค้า คลังสินค้า การเดินทาง คลื่น ลม ใบเรือ เกาะ ชายฝั่ง
คลอง ประภาคาร ทะเบียน ค่าธรรมเนียม ใบอนุญาต น้ำหนัก พายุ เข็มทิศ แผนที่ แม่น้ำ สะพาน เชือก
""".split()
CHINESE = """
船舶 港口 海洋 船长 货物 码头 锚地 水手 商人 仓库 航程 波浪 风暴 帆布 岛屿 海岸 运河 灯塔 登记 费用 许可
重量 指南针 地图 河流 桥梁 绳索 起重机 海关 合同
""".split()
JAPANESE = """
船は 港へ 海を 船長が 荷物を 埠頭に 錨を 船員の 商人と 倉庫で 航海の 波が 嵐に 帆を 島から 海岸の 運河を 灯台が 登録を
料金は 許可を 重さの 羅針盤と 地図に 川へ 橋の 縄を 起重機が 税関で 契約の
""".split()
HANGUL = """
선박은 항구에서 바다를 선장이 화물을 부두까지 닻을 선원들이 상인은 창고로 항해를 파도가 폭풍이 돛을 섬으로
해안을 운하는 등대가 등록을 요금은 허가를 무게가 나침반은 지도에 강을 다리가 밧줄로 기중기는 세관에 계약을
""".split()


class Prose:
    """Sentences from a seed. ``words`` of the field, joined as prose is in that script."""

    def __init__(self, seed: int, words: Sequence[str] = LATIN) -> None:
        self._random = random.Random(seed)
        self._words = words

    def sentence(self) -> str:
        """A Latin sentence of eight to fifteen words: a capital first, a full stop last."""
        chosen = self._random.sample(self._words, self._random.randint(5, 9))
        said = [chosen[0]]
        for word in chosen[1:]:
            if self._random.random() < 0.6:
                said.append(self._random.choice(_JOINERS))
            said.append(word)
        return (" ".join(said) + ".").capitalize()

    def paragraph(self, sentences: int = 4) -> str:
        """That many sentences in one string."""
        return " ".join(self.sentence() for _ in range(sentences))

    def run(self, count: int, joiner: str = " ", stop: str = ".", every: int = 9) -> str:
        """``count`` words of any script, with a stop after every few."""
        pieces = []
        for at in range(0, count, every):
            pieces.append(joiner.join(self._random.choices(self._words, k=min(every, count - at))))
        return (stop + ("" if joiner == "" else " ")).join(pieces) + stop


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines of at most ``width`` characters."""
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, line]
