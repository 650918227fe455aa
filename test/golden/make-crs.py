#!/usr/bin/env python3
"""Makes the CRS table and its control points with Debian's PROJ.

Needs: apt-get install proj-bin python3-gdal. Run: /usr/bin/python3 test/golden/make-crs.py

For every code below it asks PROJ for the parameters of the projection, and picks among the published
Helmert shifts of its datum to WGS 84 the one that is nearest to what PROJ itself does inside the area of the
system. A code whose shift disagrees with PROJ by more than the shift's published accuracy (or TOLERANCE_M,
whichever is more) is left out and named on the console: a missing code is an error to the user, a wrong
one would be garbage.

Writes src/raster/crs/data/*.ts and test/golden/crs-control.json.
"""
import json, math, os, re, subprocess, sys
from osgeo import osr

osr.UseExceptions()
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
TOLERANCE_M = 1.0
# Datums that reach over a continent are checked where their most used shift belongs: NAD 27 in the 48 states.
# and the Krovak system in Czechia.
AREA = {4267: (-120, 27, -70, 48), 4156: (12.5, 48.7, 18.5, 50.9), 5514: (12.5, 48.7, 18.5, 50.9)}
# The mean shift of the 48 states, which is what NAD 27 without a zone means to most.
PREFERRED = {4267: '-8,160,176'}
# Spheres and the ellipsoid of old sea ice grids, whose geographic coordinates are meant as they are.
UNSHIFTED = {4047, 4052, 4053, 4054}

def codes(*parts):
    out = []
    for part in parts:
        out.extend(range(part[0], part[1] + 1) if isinstance(part, tuple) else [part])
    return out

GEOGRAPHIC = codes(
    4326, 4269, 4267, 4258, 4283, 7844, 4674, 4167, 4612, 6668, 4490, 4171, 4619, 4617, 4152, 6318, 4759, 4322, 4277, 4289, 4149, 4150, 4151,
    4312, 4314, 4230, 4313, 4275, 4807, 4299, 4300, 4173, 4231, 4156, 4178, 4179, 4284, 4237, 4121, 4120, 4126, 4661, 4123, 4124, 4133,
    4180, 4190, 4694, 5340, 4686, 4218, 4189, 4247, 4248, 4618, 4291, 4225, 4483, 6365, 4240, 4239, 4238, 4737, 4162, 4301, 3824, 4236, 4610, 4214,
    4611, 4756, 4742, 4755, 4683, 4148, 4222, 4210, 4201, 4263, 4250, 4229, 4261, 4304, 4223, 4204, 4270, 4293, 4141, 4281, 4659, 5324, 4258,
    4265, 6706, 4765, 3906, 4272, 4202, 4203, 4140, 4955, 5527, 5451, 4758, 4242, 4680, 4702, 4695, 4192, 4019, 4047, 4053, 4176, 4200, 4740, 9000, 9056)

PROJECTED = codes(
    3857, 3395, 6933, 6931, 6932, 3408, 3409, 3410, 3031, 3032, 3413, 3411, 3412, 3995, 3976, 3996, 5041, 5042, 32661, 32761, (3571, 3576), 3573,
    3035, 3034, 5070, 5071, 5072, 6350, 3338, 6393, 3347, 3348, 3978, 3979, 3005, 3153, 2163, 9311, 3174, 3175, 3310, 3311, 6414, 3081, 3083, 6579, 3857, 4087, 32662, 8857,
    27700, 28992, 28991, 29902, 29903, 29900, 29901, 2157, 2154, 27572, 27561, 27562, 27563, 27571, 27573, (3942, 3950), 2056, 21781, 31370, 3812, 31300,
    (31254, 31259), 31287, 3416, (31466, 31469), 5513, 5514, 2065, 2180, (2176, 2179), 3120, (3006, 3018), 3021, (3019, 3024), 3067, (3873, 3885), 2393, (2391, 2394),
    25884, 3300, 3301, 3059, 3346, 3763, 3003, 3004, (6707, 6709), 7794, 7795, 3765, 3766, 3794, 3912, 3908, 3907, 23700, 3844, 31700, 2100, 5243, 4839, 2169, 5316, 3057, 8088, 5325, (5105, 5130),
    7801, 2039, 28191, 28193, 2193, 27200, (2105, 2132), 3577, 9473, 3112, 7845, 3111, 7899, 3308, 8058, 8059, 3107, 8013, 8014, (2443, 2461), (6669, 6687), (30161, 30179),
    (5173, 5188), 5179, 2096, 2097, 2098, 3825, 3826, 3827, 3828, 2326, 3414, 3375, 3376, 3377, 3168, 3167, 29873, 3405, 3406, (5896, 5899), 9205, 24047, 24048, (23830, 23845), 7755,
    (24378, 24383), 24500, (3121, 3125), (2046, 2055), 21035, 21036, 21037, 21095, 21096, 21097, 20136, 20137, 20138, 26331, 26332, 26391, 26392, 26393, 2136, 25000, 22991, 22992, 22993, (26191, 26194), 30791, 30792, 22391, 22392,
    (20435, 20440), 28600, 2932, 31600, 3440, (2318, 2321), 2318, (5253, 5259), (2319, 2325), (28402, 28432), (20004, 20032), (5880, 5880), 29101, (22171, 22177), (22181, 22187), (22191, 22197), (5343, 5349),
    3114, 3115, 3116, 3117, 3118, 9377, (21896, 21899), (5387, 5389), 2202, 6372, 6362, 3448, 24200, 5367, 5456, 5457, 5463, 5490, 5469, 5472, 5649, 4559, 2980, 2975, 2971, 2972, 2976, 3727, 3173,
    (4491, 4554), (2327, 2390), (21413, 21423), (21453, 21463), 4415, 4417, 4434, 5520, (4647, 4647), (5650, 5653), (5663, 5684), 6962, 6870, 3910, 8836, 6316, 9680,
    (26929, 26998), (32100, 32161), (2222, 2289), (3559, 3560), (6393, 6633), (2759, 2866), (2867, 2888), (2964, 2968), (3580, 3582), (26701, 26722), 26729, (26729, 26760), (32001, 32060), (3102, 3106),
    (23028, 23038), (29168, 29172), (29187, 29195), (2955, 2962), (3154, 3160), 3761, (24877, 24882), (24817, 24821), (20248, 20258), (20348, 20358),
    (9354, 9358), 3832, 3994, 3833, 3851, 5938, 5939, (5921, 5925), 6703, 5469, 5224, 3460, 3142, 3141, 5513, 6646, 6312, 3447)

# UTM zones that the library makes by rule: control points only.
UTM = codes((32601, 32660), (32701, 32760), (25828, 25838), (26901, 26923), (6330, 6348), (28348, 28358), (7846, 7859), (31965, 31985), (3097, 3101), (6688, 6692))

def projinfo(code):
    run = subprocess.run(['projinfo', f'EPSG:{code}', '-o', 'PROJ,PROJJSON', '--single-line'], capture_output=True, text=True)
    if run.returncode:
        return None
    lines = [line.strip() for line in run.stdout.splitlines()]
    proj = next((line for line in lines if line.startswith('+proj')), None)
    info = next((line for line in lines if line.startswith('{')), None)
    return (proj, json.loads(info)) if proj and info else None

OPS = {}
def shifts(geographic):
    """Published Helmert shifts of a geographic system to WGS 84 as (accuracy in metres, towgs84 text)."""
    if geographic in OPS:
        return OPS[geographic]
    run = subprocess.run(['projinfo', '-s', f'EPSG:{geographic}', '-t', 'EPSG:4326', '--spatial-test', 'intersects', '--grid-check', 'discard_missing',
                          '-o', 'PROJ', '--single-line'], capture_output=True, text=True)
    found = []
    for name, text in re.findall(r'^([^\n]*?)\n\nPROJ string:\n([^\n]*)', run.stdout, re.M):
        code = re.search(r':(\d+),', name)
        accuracy = re.search(r', ([\d.]+) m,', name)
        helmert = re.findall(r'\+proj=helmert ([^+]*(?:\+(?!step)[^+]*)*)', text)
        if 'Ballpark' in name or len(helmert) > 1 or 'gridshift' in text or 'molobadekas' in text:
            continue
        params = dict(re.findall(r'\+(\w+)=(\S+)', helmert[0])) if helmert else {}
        sign = -1 if params.get('convention') == 'coordinate_frame' else 1
        xyz = [float(params.get(k, 0)) for k in 'xyz']
        rot = [sign * float(params.get(k, 0)) for k in ('rx', 'ry', 'rz')]
        values = xyz + rot + [float(params.get('s', 0))]
        if '+inv' in text.split('+proj=helmert')[-1].split('+step')[0] or 'step +inv +proj=helmert' in text:
            values = [-v for v in values]
        values = values[:3] if not any(values[3:]) else values
        entry = (float(accuracy.group(1)) if accuracy else 0.0, ','.join(f'{v:.10g}' for v in values))
        if entry not in found:
            found.append(entry)
    OPS[geographic] = found
    return found

def srs(text):
    s = osr.SpatialReference()
    s.SetFromUserInput(text)
    s.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    return s

WGS84 = srs('EPSG:4326')

def transform(target, points, source=None):
    try:
        ct = osr.CoordinateTransformation(source or WGS84, target)
    except RuntimeError:
        return None
    out = []
    for lon, lat in points:
        try:
            x, y, _ = ct.TransformPoint(lon, lat)
        except RuntimeError:
            return None
        if not (math.isfinite(x) and math.isfinite(y)):
            return None
        out.append((x, y))
    return out

def bbox(info):
    box = info.get('bbox')
    if not box and info.get('usages'):
        box = info['usages'][0].get('bbox')
    if not box:
        return (-60, -45, 60, 45)
    w, s, e, n = box['west_longitude'], box['south_latitude'], box['east_longitude'], box['north_latitude']
    if e < w:
        e += 360
    return (w, s, e, n)

def control_points(code, info):
    w, s, e, n = AREA.get(code) or bbox(info)
    s, n = max(s, -89.5), min(n, 89.5)
    wrap = lambda lon: lon - 360 if lon > 180 else lon
    return [(round(wrap(w + (e - w) * fx), 4), round(s + (n - s) * fy, 4)) for fx, fy in ((0.5, 0.5), (0.3, 0.35), (0.7, 0.65))]

def clean(proj):
    return re.sub(r'\s*\+(no_defs|type=crs|wktext|towgs84=\S+|vunits=\S+|geoidgrids=\S+)', '', proj).strip()

def base_code(info):
    base = info.get('base_crs') or (info.get('source_crs') or {}).get('base_crs') or info
    while base.get('id') is None and base.get('base_crs'):
        base = base['base_crs']
    return (base.get('id') or {}).get('code')

def ellipsoid(proj):
    """The parts of a PROJ string that describe the figure of the Earth, and the rest."""
    parts = proj.split()
    datum = [p for p in parts if re.match(r'\+(datum|ellps|a|b|rf|R|pm)=', p)]
    return datum, [p for p in parts if p not in datum]

# proj4 has another WGS 72 than PROJ.
FIGURES = {'+ellps=WGS72': '+a=6378135 +rf=298.26'}
ELLPS = {'WGS84': 'WGS84', 'NAD83': 'GRS80', 'NAD27': 'clrk66'}

def choose(code, proj, info, metres):
    """The proj4 definition whose results PROJ agrees with, or None."""
    base = base_code(info)
    points = control_points(code, info)
    want = transform(srs(f'EPSG:{code}'), points)
    if want is None or base is None:
        return None
    datum, rest = ellipsoid(proj)
    named = next((p.split('=')[1] for p in datum if p.startswith('+datum=')), None)
    if named == 'WGS84' or '+nadgrids=@null' in rest:
        candidates = [(0.0, ' '.join(datum))]
    else:
        figure = ' '.join(f'+ellps={ELLPS[named]}' if p.startswith('+datum=') else FIGURES.get(p, p) for p in datum)
        candidates = [(accuracy, f'{figure} +towgs84={shift}') for accuracy, shift in shifts(base)]
        if code in PREFERRED:
            candidates = [c for c in candidates if c[1].endswith('=' + PREFERRED[code])]
        if base in UNSHIFTED:
            candidates = [(0.0, figure)]
    best = None
    for accuracy, figure in candidates:
        definition = ' '.join([rest[0], *rest[1:], figure])
        got = transform(srs(definition + ' +no_defs +type=crs'), points)
        if got is None:
            continue
        error = max(math.dist(a, b) for a, b in zip(got, want)) * metres
        if best is None or error < best[0] - 1e-6:
            back = transform(WGS84, [(round(x, 9 if metres > 10000 else 5), round(y, 9 if metres > 10000 else 5)) for x, y in got], srs(definition + ' +no_defs +type=crs'))
            got = [(*p, *b) for p, b in zip(got, back)] if back else None
            if got is None:
                continue
            best = (error, accuracy, figure, rest, points, got, want)
    if best is None or best[0] > max(best[1], TOLERANCE_M):
        print(f'left out {code} {info["name"]}: {best and round(best[0], 2)} m', file=sys.stderr)
        return None
    return best

UNITS = {'m': 1, 'us-ft': 1200 / 3937, 'ft': 0.3048, 'km': 1000}
def unit(rest):
    for part in rest:
        if part.startswith('+units='):
            return UNITS.get(part[7:])
        if part.startswith('+to_meter='):
            return float(part[10:])
    return 1

geographic, projected, control, datums = {}, {}, {}, {}
def datum_key(figure):
    return datums.setdefault(figure, len(datums))

for code in sorted(set(GEOGRAPHIC)):
    found = projinfo(code)
    # Systems in grads have no place in a library that takes geographic coordinates for degrees.
    if not found or 'longlat' not in found[0] or 'grad' in json.dumps(found[1].get('coordinate_system')):
        print('no geographic', code, file=sys.stderr)
        continue
    proj, info = found
    chosen = choose(code, clean(proj), info, 111320)
    if chosen:
        geographic[code] = (info['name'], datum_key(chosen[2]))
        control[code] = [[*p, *(round(v, 9) for v in w)] for p, w in zip(chosen[4], chosen[5])]

for code in sorted(set(PROJECTED)):
    found = projinfo(code)
    if not found:
        continue
    proj, info = found
    _, rest = ellipsoid(clean(proj))
    metres = unit(rest)
    # South-orientated and westing systems need an axis order of their own: not ours.
    if metres is None or '+axis=' in proj:
        print('left out', code, info['name'], proj, file=sys.stderr)
        continue
    chosen = choose(code, clean(proj), info, metres)
    if chosen:
        projected[code] = (info['name'], ' '.join(p for p in chosen[3] if p != '+units=m'), datum_key(chosen[2]))
        control[code] = [[*p, *(round(v, 5) for v in w[:2]), *(round(v, 9) for v in w[2:])] for p, w in zip(chosen[4], chosen[5])]

for code in UTM:
    found = projinfo(code)
    points = control_points(code, found[1])[:2]
    # In some corners PROJ prefers a regional shift of a metre; these datums are WGS 84 to us.
    same = clean(found[0]) + ('' if '+datum=WGS84' in found[0] else ' +towgs84=0,0,0')
    same = same.replace('+datum=NAD83', '+ellps=GRS80')
    control[code] = [[*p, *(round(v, 5) for v in w), *p] for p, w in zip(points, transform(srs(same + ' +no_defs +type=crs'), points))]

def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as f:
        f.write(text)

HEAD = '/** Generated by test/golden/make-crs.py from the EPSG registry in Debian\'s PROJ; do not edit. */\n\n'
quote = lambda s: "'" + s.replace('\\', '\\\\').replace("'", "\\'") + "'"
data = os.path.join(ROOT, 'src/raster/crs/data')
write(os.path.join(data, 'datums.ts'), HEAD + '/** Figures of the Earth with their shift to WGS 84, as proj4 writes them. */\nexport const DATUMS: readonly string[] = [\n'
      + ''.join(f'  {quote(d)},\n' for d in datums) + '];\n')
write(os.path.join(data, 'geographic.ts'), HEAD + '/** EPSG code, name, index into DATUMS. */\nexport const GEOGRAPHIC: readonly (readonly [number, string, number])[] = [\n'
      + ''.join(f'  [{c}, {quote(n)}, {d}],\n' for c, (n, d) in geographic.items()) + '];\n')
write(os.path.join(data, 'projected.ts'), HEAD + '/** EPSG code, name, projection as proj4 writes it, index into DATUMS. */\nexport const PROJECTED: readonly (readonly [number, string, string, number])[] = [\n'
      + ''.join(f'  [{c}, {quote(n)}, {quote(p)}, {d}],\n' for c, (n, p, d) in projected.items()) + '];\n')
write(os.path.join(ROOT, 'test/golden/crs-control.json'), '{\n' + ',\n'.join(f'"{c}": {json.dumps(v)}' for c, v in control.items()) + '\n}\n')
print(len(geographic), 'geographic,', len(projected), 'projected,', len(datums), 'datums')
