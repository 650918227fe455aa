/** Places by the start of any of their names, without regard to case and accents; the largest first. */
import { setImmediate } from 'node:timers/promises'

interface FoundPlace {
  name: string
  /** The name that was searched for, if it is another one. */
  match: string | null
  region: string
  /** ISO 3166 code. */
  country: string
  longitude: number
  latitude: number
  population: number
}

export interface Gazetteer {
  readonly size: number
  search(text: string, limit: number): FoundPlace[]
}

interface Place extends Omit<FoundPlace, 'match'> {
  others: readonly string[]
}

/** Letters without marks, so that 'Sao' finds 'São' and Arabic is found with or without vowels. */
const fold = (name: string): string =>
  name
    .normalize('NFD')
    .replaceAll(/[\p{M}\u0640]/gu, '')
    .replaceAll(/[-'’ʻ.]/g, ' ')
    .toLowerCase()
    .replaceAll('ø', 'o')
    .replaceAll('ł', 'l')
    .replaceAll('ß', 'ss')
    .replaceAll('ı', 'i')
    .trim()

/** Places that are read at a time, before others have their turn. */
const SLICE = 1_000

/**
 * Lines of name, latitude, longitude, country, region, population and other names, the largest place first. Reading them all takes as
 * long as dozens of requests, which do not wait for it.
 */
export async function createGazetteer(text: string): Promise<Gazetteer> {
  const places: Place[] = []
  const byLetter = new Map<string, Name[]>()
  for (const line of text.split('\n')) {
    const place = readPlace(line)
    for (const name of [place.name, ...place.others]) {
      const key = fold(name)
      const letter = key.slice(0, 1)
      const alike = byLetter.get(letter) ?? []
      byLetter.set(letter, alike)
      alike.push({ key, text: name, place: places.length })
    }
    if (places.push(place) % SLICE === 0) await setImmediate()
  }
  // Sorted once, so that a search reads only the names that start as it does.
  for (const names of byLetter.values()) {
    names.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)) || a.place - b.place)
    if (names.length > SLICE) await setImmediate()
  }
  return {
    size: places.length,
    search(query, limit) {
      const key = fold(query)
      if (key === '') return []
      // Only the best are kept while reading, because anybody can search, and thousands of names start with the same letter.
      const best: Found[] = []
      const names = byLetter.get(key.slice(0, 1)) ?? []
      for (let at = firstFrom(names, key); at < names.length && names[at]!.key.startsWith(key); at++) {
        const { place, text, key: name } = names[at]!
        insert(best, { place, text, isWhole: name === key }, limit)
      }
      return best.map(({ place: index, text }) => {
        const { others: _, ...place } = places[index]!
        const region = fold(place.region) === fold(place.name) ? '' : place.region
        return { ...place, region, match: fold(text) === fold(place.name) ? null : text }
      })
    },
  }
}

interface Name {
  key: string
  text: string
  place: number
}

function readPlace(line: string): Place {
  const [name = '', latitude, longitude, country = '', region = '', population, others] = line.split('\t')
  return {
    name,
    region,
    country,
    longitude: Number(longitude),
    latitude: Number(latitude),
    population: Number(population),
    others: others ? others.split('|') : [],
  }
}

function firstFrom(names: readonly Name[], key: string): number {
  let [low, high] = [0, names.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (names[middle]!.key < key) low = middle + 1
    else high = middle
  }
  return low
}

interface Found {
  /** The largest place is 0. */
  place: number
  text: string
  /** All of the name was typed. */
  isWhole: boolean
}

const comparedTo = (a: Found, b: Found): number => Number(b.isWhole) - Number(a.isWhole) || a.place - b.place

/** Keeps the best in order, each place once. */
function insert(best: Found[], found: Found, limit: number): void {
  if (best.length === limit && comparedTo(best[limit - 1]!, found) <= 0) return
  const known = best.findIndex(({ place }) => place === found.place)
  if (known >= 0) {
    if (comparedTo(best[known]!, found) <= 0) return
    best.splice(known, 1)
  }
  const at = best.findIndex((each) => comparedTo(found, each) < 0)
  best.splice(at < 0 ? best.length : at, 0, found)
  if (best.length > limit) best.pop()
}
