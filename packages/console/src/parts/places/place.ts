/** Where a place is: coordinates, or a large city by its name. */
import { CITIES } from './cities.ts'

export interface Place {
  name: string
  longitude: number
  latitude: number
}

/** Null if the text is neither coordinates nor a city of the list. */
export const findPlace = (text: string): Place | null => coordinatesIn(text) ?? cityIn(text)

const NUMBER = String.raw`([-+−]?\d{1,3}(?:\.\d+)?)\s*°?\s*([NSEW])?`
const PAIR = new RegExp(String.raw`^\s*${NUMBER}(?:\s*[,;]\s*|\s+)${NUMBER}\s*$`, 'i')

/** Latitude first, as people write it, unless the directions or the range say otherwise. */
function coordinatesIn(text: string): Place | null {
  const [, first, firstSide, second, secondSide] = PAIR.exec(text) ?? []
  if (first === undefined || second === undefined) return null
  const one = signed(first, firstSide)
  const two = signed(second, secondSide)
  const isLongitudeFirst = firstSide ? /[EW]/i.test(firstSide) : Math.abs(one) > 90
  const [latitude, longitude] = isLongitudeFirst ? [two, one] : [one, two]
  if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180) return null
  return { name: `${latitude}, ${longitude}`, longitude, latitude }
}

const signed = (text: string, side: string | undefined): number =>
  Number(text.replace('−', '-')) * (side !== undefined && /[SW]/i.test(side) ? -1 : 1)

/** The largest city of the name; `Valencia, Venezuela` and `Valencia, VE` are exact. */
function cityIn(text: string): Place | null {
  const [name = '', ...rest] = text.split(',')
  const [wanted, country] = [plain(name), plain(rest.join(' '))]
  if (wanted === '') return null
  const match = cities().find(
    (city) =>
      plain(city.name) === wanted && (country === '' || [city.country, countryName(city.country)].some((own) => plain(own) === country)),
  )
  return match ? { name: match.name, longitude: match.longitude, latitude: match.latitude } : null
}

type City = Place & { country: string }

let known: readonly City[] | null = null

function cities(): readonly City[] {
  known ??= CITIES.trim()
    .split(/;\s*|\n/)
    .map((row) => {
      const [name = '', country = '', latitude, longitude] = row.split('|')
      return { name, country, latitude: Number(latitude), longitude: Number(longitude) }
    })
  return known
}

const REGIONS = new Intl.DisplayNames(['en'], { type: 'region' })
const countryName = (code: string): string => REGIONS.of(code) ?? code

/** Letters that do not decompose into a letter and an accent. */
const LETTERS: Readonly<Record<string, string>> = { ł: 'l', ø: 'o', đ: 'd', ß: 'ss', æ: 'ae', œ: 'oe', ı: 'i', þ: 'th', ð: 'd' }

/** Lower case without accents and punctuation; `St.` is `Saint`. */
const plain = (text: string): string =>
  text
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[łøđßæœıþð]/g, (letter) => LETTERS[letter]!)
    .replaceAll(/['’.]/g, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .replace(/^st /, 'saint ')
