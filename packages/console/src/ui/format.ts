/** Numbers, money, areas and times, formatted the same way everywhere, as the user has chosen. */
type Units = 'metric' | 'imperial'

const formatters = (numbers: string, dates: string) => ({
  whole: new Intl.NumberFormat(numbers, { maximumFractionDigits: 0 }),
  hundredths: new Intl.NumberFormat(numbers, { minimumFractionDigits: 2, maximumFractionDigits: 2 }),
  few: new Intl.NumberFormat(numbers, { maximumFractionDigits: 1 }),
  fewDigits: new Intl.NumberFormat(numbers, { maximumSignificantDigits: 2 }),
  day: new Intl.DateTimeFormat(dates, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' }),
  shortDay: new Intl.DateTimeFormat(dates, { day: 'numeric', month: 'short', timeZone: 'UTC' }),
  clock: new Intl.DateTimeFormat(dates, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: 'UTC' }),
})

let { whole, hundredths, few, fewDigits, day, shortDay, clock } = formatters('en-AU', 'en-GB')
let units: Units = 'metric'

/** Null: as by default. What is already on screen has to be drawn again. */
export function setFormats(chosen: { language: string | null; units: Units | null }): void {
  ;({ whole, hundredths, few, fewDigits, day, shortDay, clock } = formatters(chosen.language ?? 'en-AU', chosen.language ?? 'en-GB'))
  units = chosen.units ?? 'metric'
}

export const count = (value: number) => whole.format(value)
export const aud = (value: number) => `A$${hundredths.format(value)}`
const CREDITS_PER_AUD = 100
export const audOfCredits = (credits: number) => aud(credits / CREDITS_PER_AUD)
export const date = (value: string | null | undefined) => (value ? day.format(new Date(value)) : '–')
export const dateShort = (value: string | null | undefined) => (value ? shortDay.format(new Date(value)) : '–')
export const dateTime = (value: string | null | undefined) =>
  value ? `${day.format(new Date(value))}, ${clock.format(new Date(value))} UTC` : '–'
/** The time of an event; with its day, unless that is today. */
export const timeSince = (value: string, now: Date) => {
  const at = new Date(value)
  return `${day.format(at) === day.format(now) ? '' : `${shortDay.format(at)}, `}${clock.format(at)} UTC`
}
export const dateTimeShort = (value: string) => `${shortDay.format(new Date(value))}, ${clock.format(new Date(value))}`
export const localTime = (value: string) => new Date(value).toLocaleString()

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

export function bytes(value: number): string {
  let unit = 0
  let shown = value
  // Rounded first: 999,999 bytes are 1 MB, not 1,000 kB.
  while (Math.round(shown) >= 1000 && unit < BYTE_UNITS.length - 1) {
    shown /= 1000
    unit++
  }
  return `${shown >= 100 || unit === 0 ? whole.format(shown) : few.format(shown)} ${BYTE_UNITS[unit]}`
}

const SQUARE_METRES_PER_SQUARE_MILE = 2_589_988.110336
const SQUARE_METRES_PER_ACRE = 4_046.8564224

const areaWith = (number: Intl.NumberFormat, squareMetres: number): string => {
  if (units === 'metric')
    return squareMetres >= 1e6 ? `${number.format(squareMetres / 1e6)} km²` : `${number.format(squareMetres / 1e4)} ha`
  return squareMetres >= SQUARE_METRES_PER_SQUARE_MILE
    ? `${number.format(squareMetres / SQUARE_METRES_PER_SQUARE_MILE)} mi²`
    : `${number.format(squareMetres / SQUARE_METRES_PER_ACRE)} acres`
}

export const area = (squareMetres: number) => areaWith(few, squareMetres)
/** For a size that changes while it is looked at. */
export const exactArea = (squareMetres: number) => areaWith(hundredths, squareMetres)

const METRES_PER_MILE = 1_609.344
const METRES_PER_FOOT = 0.3048

/** A measured distance, with the digits that matter. */
export function distance(metresLong: number): string {
  const [large, small, unit] =
    units === 'metric' ? [metresLong / 1000, metresLong, 'm'] : [metresLong / METRES_PER_MILE, metresLong / METRES_PER_FOOT, 'ft']
  if (large < 1) return `${(small < 100 ? few : whole).format(small)} ${unit}`
  return `${(large < 100 ? hundredths : few).format(large)} ${units === 'metric' ? 'km' : 'mi'}`
}

/** A limit or a size, given in km²; below 1 with the digits that matter, because 0.1 km² is not 0. */
export function squareKilometres(value: number): string {
  const shown = units === 'metric' ? value : (value * 1e6) / SQUARE_METRES_PER_SQUARE_MILE
  return `${shown > 0 && shown < 1 ? fewDigits.format(shown) : few.format(shown)} ${units === 'metric' ? 'km²' : 'mi²'}`
}

/** Resolutions stay in metres, as products are named and sold. */
export const metres = (value: number | null | undefined) =>
  value == null ? '–' : value < 0.1 ? `${few.format(value * 100)} cm` : `${few.format(value)} m`

export const percent = (value: number | null | undefined) => (value == null ? '–' : `${few.format(value)}%`)

/** A measured value with the digits that matter. */
export function value(number: number | null | undefined): string {
  if (number == null) return '–'
  if (number === 0) return '0'
  const size = Math.abs(number)
  if (size >= 1000) return whole.format(number)
  if (size >= 10) return few.format(number)
  return number.toFixed(size >= 0.01 ? 3 : 5)
}

export function ago(iso: string): string {
  const minutes = Math.round((Date.now() - Date.parse(iso)) / 60_000)
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${minutes} min ago`
  const hours = Math.round(minutes / 60)
  return hours < 24 ? `${hours} h ago` : date(iso)
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
const lettersOf = (word: string) => Array.from(graphemes.segment(word), ({ segment }) => segment)

/** Of the first and the last word; of a single word, its first two letters. */
export function initials(name: string): string {
  const words = name.split(/\s+/).filter(Boolean).map(lettersOf)
  const letters = words.length > 1 ? [words[0]![0], words.at(-1)![0]] : (words[0] ?? []).slice(0, 2)
  return letters.join('').toUpperCase()
}
export const plural = (number: number, singular: string, many = `${singular}s`) =>
  `${whole.format(number)} ${number === 1 ? singular : many}`
export const shortId = (id: string) => (id.length > 18 ? `${id.slice(0, 13)}…` : id)
