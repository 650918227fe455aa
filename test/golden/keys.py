#!/usr/bin/env python3
"""Makes GeoTIFFs whose keys and citations say their system in the ways of ArcGIS, ERDAS Imagine and others, and asks GDAL what they mean.

Run: /usr/bin/python3 test/golden/keys.py [FILE]. FILE is test/golden/crs-keys.json by default: for each case its keys, and a point with
GDAL's coordinates of it, or null where GDAL finds no map.
"""
import json, os, struct, sys, tempfile
from osgeo import gdal, osr
gdal.UseExceptions()
gdal.PushErrorHandler('CPLQuietErrorHandler')

def build(keys, path, size=(10.0,10.0), origin=(500000.0,5000000.0)):
    # keys: list of (id, value) value int|float|list|str
    directory=[]; doubles=[]; ascii_=b''
    for k,v in sorted(keys, key=lambda t:t[0]):
        if isinstance(v,str):
            b=(v+'|').encode('latin1'); directory.append((k,34737,len(b),len(ascii_))); ascii_+=b
        elif isinstance(v,int): directory.append((k,0,1,v))
        else:
            l=v if isinstance(v,list) else [v]
            directory.append((k,34736,len(l),len(doubles))); doubles+=l
    tags=[(256,3,[4]),(257,3,[4]),(258,3,[8]),(259,3,[1]),(262,3,[1]),(273,4,[8]),(277,3,[1]),(278,3,[4]),(279,4,[16]),
      (33550,12,[size[0],size[1],0.0]),(33922,12,[0.0,0.0,0.0,origin[0],origin[1],0.0]),
      (34735,3,[1,1,0,len(directory)]+[x for d in directory for x in d])]
    if doubles: tags.append((34736,12,doubles))
    if ascii_: tags.append((34737,2,list(ascii_+b'\0')))
    fm={3:'H',4:'I',12:'d',2:'B'}; sz={3:2,4:4,12:8,2:1}
    body=bytes(16); at=8+16; data=b''; ents=b''
    ifd=at; after=ifd+2+12*len(tags)+4
    for t,ty,v in tags:
        raw=struct.pack('<%d%s'%(len(v),fm[ty]),*v)
        if len(raw)<=4: val=raw.ljust(4,b'\0')
        else:
            val=struct.pack('<I',after+len(data)); data+=raw+(b'\0' if len(raw)%2 else b'')
        ents+=struct.pack('<HHI',t,ty,len(v))+val
    open(path,'wb').write(b'II*\0'+struct.pack('<I',ifd)+body+struct.pack('<H',len(tags))+ents+struct.pack('<I',0)+data)
PE='ESRI PE String = '
WM='PROJCS["WGS_1984_Web_Mercator_Auxiliary_Sphere",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Mercator_Auxiliary_Sphere"],PARAMETER["False_Easting",0.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",0.0],PARAMETER["Standard_Parallel_1",0.0],PARAMETER["Auxiliary_Sphere_Type",0.0],UNIT["Meter",1.0]]'
AEA='PROJCS["NA_Albers",GEOGCS["GCS_North_American_1983",DATUM["D_North_American_1983",SPHEROID["GRS_1980",6378137.0,298.257222101]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Albers"],PARAMETER["False_Easting",0.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",-96.0],PARAMETER["Standard_Parallel_1",20.0],PARAMETER["Standard_Parallel_2",60.0],PARAMETER["Latitude_Of_Origin",40.0],UNIT["Foot_US",0.3048006096012192]]'
CASES={
 'user-model-code':[(1024,32767),(1025,1),(3072,32633)],
 'user-model-geographic-code':[(1024,32767),(1025,1),(2048,4326)],
 'pe-web-mercator':[(1024,32767),(1025,1),(3073,PE+WM)],
 'pe-web-mercator-gtcitation':[(1024,32767),(1025,1),(1026,PE+WM)],
 'pe-projected-model':[(1024,1),(1025,1),(3072,32767),(3073,PE+WM),(3076,9001)],
 'pe-albers':[(1024,1),(1025,1),(3072,32767),(3073,PE+AEA),(3076,9003)],
 'pe-albers-metres-key':[(1024,1),(1025,1),(3072,32767),(3073,PE+AEA)],
 'code-other-unit':[(1024,1),(1025,1),(3072,32118),(3076,9003)],
 'merc-parallel':[(1024,1),(1025,1),(2048,4326),(3072,32767),(3074,32767),(3075,7),(3076,9001),(3078,42.0),(3080,51.0),(3081,0.0),(3082,0.0),(3083,0.0)],
 'merc-parallel-scale1':[(1024,1),(1025,1),(2048,4326),(3072,32767),(3074,32767),(3075,7),(3076,9001),(3078,42.0),(3080,51.0),(3082,0.0),(3083,0.0),(3092,1.0)],
 'merc-origin-lat':[(1024,1),(1025,1),(2048,4326),(3072,32767),(3074,32767),(3075,7),(3076,9001),(3080,51.0),(3081,42.0),(3082,0.0),(3083,0.0)],
 'citation-utm':[(1024,1),(1025,1),(1026,'WGS 84 / UTM zone 33N'),(3072,32767),(3073,'WGS 84 / UTM zone 33N')],
 'citation-imagine-utm':[(1024,1),(1025,1),(2048,4326),(3072,32767),(3073,'IMAGINE GeoTIFF Support\nCopyright 1991 - 2001 by ERDAS, Inc. All Rights Reserved\n@(#)$RCSfile: egtf.c $ $Revision: 1.9.3.3 $\nProjection Name = UTM\nUnits = meters\nGeoTIFF Units = meters'),(3076,9001),(3074,16033)],
 'citation-feet':[(1024,1),(1025,1),(2048,4269),(3072,32767),(3073,'PCS Name = NAD_1983_StatePlane_New_York_Long_Island_FIPS_3104_Feet|LUnits = Foot_US|'),(3074,32767),(3075,8),(3078,40.66666),(3079,41.0333333),(3084,-74.0),(3085,40.16666666),(3086,984250.0),(3087,0.0)],
 'citation-imagine-feet':[(1024,1),(1025,1),(2048,4269),(3072,32767),(3073,'IMAGINE GeoTIFF Support\nProjection Name = Lambert Conformal Conic\nUnits = feet\nGeoTIFF Units = feet'),(3074,32767),(3075,8),(3078,40.66666),(3079,41.0333333),(3084,-74.0),(3085,40.16666666),(3086,984250.0),(3087,0.0)],
 'moon':[(1024,2),(1025,1),(2048,32767),(2049,'GCS Name = GCS_Moon_2000|Datum = D_Moon_2000|Ellipsoid = Moon_2000_IAU_IAG|Primem = Reference_Meridian'),(2050,32767),(2051,32767),(2056,32767),(2057,1737400.0),(2059,0.0)],
 'mars-eqc':[(1024,1),(1025,1),(2048,32767),(2050,32767),(2056,32767),(2057,3396190.0),(2058,3396190.0),(3072,32767),(3074,32767),(3075,17),(3076,9001),(3078,0.0),(3080,0.0)],
 'gcs-citation':[(1024,2),(1025,1),(2048,32767),(2049,'GCS_WGS_1984'),(2050,6326),(2054,9102)],
 'spcs-citation':[(1024,1),(1025,1),(1026,'State Plane Zone 3104 NAD27 units=US survey feet'),(3072,32767)],
 'proj-only':[(1024,1),(1025,1),(2048,4269),(3072,32767),(3074,10408)],
 'geocentric':[(1024,3),(1025,1)],
}
LCC = [(3074, 32767), (3075, 8), (3078, 40.66666), (3079, 41.0333333), (3084, -74.0), (3085, 40.16666666), (3086, 984250.0), (3087, 0.0)]
IMAGINE = 'IMAGINE GeoTIFF Support\nProjection Name = Lambert Conformal Conic\nUnits = '
for name, unit, linear in [('feet-9002', 'feet', 9002), ('survey-feet', 'us_survey_feet', 9001), ('international-feet', 'international_feet', 9001), ('metres', 'meters', 9001)]:
    CASES['imagine-' + name] = [(1024, 1), (1025, 1), (2048, 4269), (3072, 32767), (3073, IMAGINE + unit), (3076, linear)] + LCC
CASES['plain-citation-feet'] = [(1024, 1), (1025, 1), (2048, 4269), (3072, 32767), (3073, 'Something\nUnits = feet'), (3076, 9001)] + LCC
CASES['unit-by-size'] = [(1024, 1), (1025, 1), (2048, 4269), (3072, 32767), (3076, 32767), (3077, 0.3048)] + LCC

POINTS = {'merc': (50, 40), 'user-model-code': (15, 47), 'pe-': (-100, 40), 'citation-imagine-utm': (15.5, 47)}
DEFAULT = (-73.5, 40.8)

wgs84 = osr.SpatialReference()
wgs84.ImportFromEPSG(4326)
wgs84.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
out = {}
with tempfile.TemporaryDirectory() as folder:
    for name, keys in CASES.items():
        path = os.path.join(folder, name + '.tif')
        build(keys, path)
        srs = gdal.Open(path).GetSpatialRef()
        point = None
        if srs and (srs.IsProjected() or srs.IsGeographic()) and srs.ExportToProj4():
            srs.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
            lon, lat = next((p for start, p in POINTS.items() if name.startswith(start)), DEFAULT)
            try:
                x, y, _ = osr.CoordinateTransformation(wgs84, srs).TransformPoint(float(lon), float(lat), 0.0)
                point = [lon, lat, x, y]
            except (RuntimeError, TypeError):
                pass
        out[name] = {'keys': keys, 'point': point}
target = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), 'crs-keys.json')
with open(target, 'w') as f:
    f.write('{\n' + ',\n'.join(f'"{name}": {json.dumps(case)}' for name, case in out.items()) + '\n}\n')
