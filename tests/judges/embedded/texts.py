"""Short texts of our own in pairs: (aspect, better, worse)."""

from __future__ import annotations

QUESTION = "How do tidal power plants compare with offshore wind farms in cost and reliability?"
CHINESE_QUESTION = "潮汐电站与海上风电在成本和可靠性上相比如何？"

_CLEAR = """# Tidal power against offshore wind: dearer but steadier

## Summary

Tidal power plants cost about twice as much per megawatt-hour as offshore wind farms, but their reliability is higher. For cost
alone wind wins; where reliability counts, tidal power can pay.

## Cost of tidal power and wind

Offshore wind farms cost 80 euros per megawatt-hour in 2023. Tidal plants cost 170 euros.

## Reliability of tidal power and wind

Tidal plants follow the moon, so their output is known years ahead. Wind farms depend on the weather.

## Conclusion

Tidal power is dearer than offshore wind and more reliable. Cost decides for wind, reliability for tidal plants.
"""
_VAGUE = """# Thoughts on the sea

## Part one

The ocean has always fascinated people. Many things can be said about it, and opinions differ.

## Part two

Technology keeps moving on. There are several ways to look at this.

## Part three

Some like boats. Others prefer the beach in summer.
"""
_RELEVANT = """# Costs

## Cost of tidal power

Tidal power plants cost 170 euros per megawatt-hour. Their turbines stand in salt water, which raises the cost of repairs.

## Reliability of offshore wind

Offshore wind farms stand still in calm weather. Their reliability is 45 percent over a year.
"""
_STRAYING = """# Costs

## Cost of tidal power

Seagulls nest on cliffs in spring. My uncle once painted a lighthouse in red. Seagulls nest on the cliffs in spring.

## Reliability of offshore wind

The harbour has a small bakery. Bread is baked there every morning.
"""
_DENSE = """The Rance plant in France opened in 1966 with 24 turbines and 240 megawatts. It yields 500
gigawatt-hours a year at 12 cents
per kilowatt-hour. Sihwa Lake in South Korea followed in 2011 with 254 megawatts. Hornsea One in Britain
reached 1.2 gigawatts in
2020.
"""
_THIN = """It is important to note that energy plays a crucial role in today's world. There are various
aspects to consider. It is worth
noting that energy is very important. Many factors have a significant impact. In many ways energy is very important indeed.
"""
_JOINED = """## Cost

Tidal power is dearer than wind because turbines stand in salt water. However, repairs are rare, so that the
gap narrows over time.
Compared with wind farms, tidal plants last longer, although their dams cost more.

## Reliability

Output depends on the moon; therefore it is known years ahead. Wind, by contrast, depends on weather, whereas
tides do not. If both
are combined, the grid needs less storage.

## Balance

Taken together, salt water drives the cost, but the moon's clock lowers storage. Where storage is dear, tidal
plants win; otherwise
wind does, because turbines and repairs weigh more than dams.
"""
_HEAPED = """## Cost

Tidal power costs 170 euros. Turbines are made of steel. Dams are large.

## Reliability

The moon moves. The grid has cables. Storage exists.

## Birds

Birds fly. Fish swim. Boats sail.
"""
_HEADED = """# Tidal power and offshore wind

Both use the sea. Their costs and their risks differ.

## Costs of building

Building costs of dams are high. Foundations for wind towers are cheaper to build, and ships for building are many.

### Costs of dams

Dams need rock and years. Their costs fall late.

## Reliability of output

Output of tidal plants is reliable because tides are known. The output of wind farms is less reliable.

## Effects on birds and fish

Birds meet rotors. Fish meet turbines, and some are hurt.
"""
_BADLY_HEADED = """# Introduction

#### Details

Building costs of dams are high. Foundations for wind towers are cheaper to build, and ships for building are many.

# Other

###### Details

Dams need rock and years. Their costs fall late. Output of tidal plants is reliable because tides are known.

# Conclusion

Birds meet rotors. Fish meet turbines, and some are hurt.
"""
_GROUPED = """The costs of a plant fall into three groups:

- Building costs: dams cost most, rock costs least.
- Repair costs: salt water costs seals every year.
- Capital costs: loans cost interest for decades.

These animals are affected:

- Birds: gulls and other birds meet rotors.
- Fish: salmon and other fish meet turbines.
- Mammals: seals and other mammals meet noise.
"""
_MIXED = """
- Building costs: dams cost most, rock costs least.
- salmon
- and then it was decided by the council of the region that loans would be given for decades to whoever asked for them in time
- Birds: gulls and other birds meet rotors

The sea is wide.

- Salt water costs seals every year.
- noise
- Dams cost most, rock costs least, building costs
- Rain fell
"""
_ORDERED = """# Tidal power

## 1. Introduction

This text compares dams and towers in the sea, first their costs, then their output.

## 2. Costs of dams and towers

Dams cost rock and labour. Towers cost steel. Costs of dams fall late, and costs of towers fall early.

## 3. Output for its costs

Output of dams follows tides. Costs per output are lower for towers, while the output of dams is steadier.

## 4. Conclusion

Dams give steady output at high costs; towers give cheap output that is less steady.
"""
_DISORDERED = """## 3. Poems

A gull sang softly. Nobody heard.

## 1. Recipes

Boil potatoes with salt for twenty minutes, then drain, peel, mash and whip them with butter, milk, nutmeg and
pepper until they are
smooth; serve hot in a deep dish with parsley, or let them cool and bake them again under cheese on the next day for guests.

## 7. Dams

- Rock.
- Labour.
"""
_VARIED = """Tides are old news to sailors. For centuries they have planned their voyages by tables that
fishermen's wives copied out by hand
in winter, when boats lay on the beach. Why should engineers do otherwise? A plant that knows its output ten
years ahead can sell
it ahead as well. Wind cannot. Yet the price of steel towers has fallen so far that most buyers no longer ask,
and in the north even
the ferries now run on current from the sea.
"""
_MONOTONE = """The plant is big now. The plant is old now. The plant is slow now. The plant is dear now. The
plant is here now. The plant is
wet now. The plant is red now. The plant is shut now. The plant is sold now. The plant is gone now.
"""
_LINKED = """Tidal turbines stand in salt water. This water eats steel, and therefore the turbines need
coating. However, coating is dear. Such
costs return every five years, because coating wears off. As a result, owners of turbines have begun to test
bronze. Bronze, in turn,
resists salt but is soft. For example, bronze blades bend in storms.
"""
_JUMPING = """Tidal turbines stand in salt water. Paris has many bridges. Bronze was known early. A ferry left
at noon. Owners pay interest. Gulls
lay three eggs. Concrete hardens slowly. Lawyers write letters. The moon shines.
"""
_READABLE = """Tidal plants use the rise and fall of the sea. Water flows in through gates and is held behind
a dam. When the sea has fallen, the
gates open and the water drives a set of wheels. The wheels turn machines that make current.

This happens twice a day. The plant knows the hour of each tide, so the grid can count on it. Repairs are done
while the gates are
closed.
"""
_HARD = """The operationalisation of hydrokinetically-instantiated electromechanical transformation
infrastructures, notwithstanding the
multidimensional interdependencies characterising intergovernmental decarbonisation commitments ((see also
[the annex), necessitates
the institutionalisation of counterfactually-parameterised intermittency-compensation methodologies, whose epistemological
presuppositions, themselves underdetermined by heterogeneous socio-technological configurations, remain insufficiently
problematised within contemporaneous interdisciplinary conceptualisations of infrastructural transformation processes ** | ||.
"""
_CLEAR_ZH = """# 潮汐电站与海上风电：成本较高但更可靠

## 摘要

潮汐电站的度电成本约为海上风电的两倍，但可靠性更高。若只看成本，海上风电占优；若看重可靠性，潮汐电站值得投资。

## 成本比较

海上风电2023年的度电成本为0.6元。潮汐电站的成本为1.3元。

## 结论

潮汐电站成本高于海上风电，可靠性更高。
"""
_VAGUE_ZH = """# 随想

## 其一

大家都喜欢大自然。很多事情值得聊聊。

## 其二

今天天气不错。有人爱散步。
"""
_LINKED_ZH = """潮汐机组长期浸泡在海水中。
因此，机组必须使用防腐涂层。然而，涂层价格昂贵。由于涂层会磨损，业主每五年需要重新涂装。所以业主开始测试青铜叶片。
"""
_JUMPING_ZH = """潮汐机组长期浸泡在海水中。巴黎有许多桥梁。渡轮中午出发。律师书写信件。海鸥产下三枚蛋。混凝土硬化缓慢。
"""

PAIRS = [
    ("main_idea_clarity", _CLEAR, _VAGUE),
    ("main_idea_clarity", _CLEAR_ZH, _VAGUE_ZH),
    ("detail_relevance", _RELEVANT, _STRAYING),
    ("information_density", _DENSE, _THIN),
    ("conceptual_synthesis", _JOINED, _HEAPED),
    ("heading_structure", _HEADED, _BADLY_HEADED),
    ("bullet_grouping_logic", _GROUPED, _MIXED),
    ("structural_coherence", _ORDERED, _DISORDERED),
    ("rhythm_and_variety", _VARIED, _MONOTONE),
    ("transition_smoothness", _LINKED, _JUMPING),
    ("transition_smoothness", _LINKED_ZH, _JUMPING_ZH),
    ("readability_and_flow", _READABLE, _HARD),
]
