/** What a user recognizes a device by, from the `User-Agent` that it sends; whoever sends it can write anything. */

const PROGRAMS: readonly (readonly [RegExp, string])[] = [
  [/groundtrack-cli/i, 'Groundtrack command line'],
  [/groundtrack-python|python/i, 'Python'],
  [/QGIS/i, 'QGIS'],
  [/Edg(e|A|iOS)?\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrome\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
  [/curl\//, 'curl'],
  [/node|undici/i, 'Node.js'],
]

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
]

const nameIn = (list: typeof PROGRAMS, userAgent: string) => list.find(([pattern]) => pattern.test(userAgent))?.[1]

/** For example 'Firefox on Windows'. */
export function deviceName(userAgent: string | null): string {
  if (!userAgent) return 'Unknown device'
  const program = nameIn(PROGRAMS, userAgent)
  const system = nameIn(SYSTEMS, userAgent)
  if (program && system) return `${program} on ${system}`
  return program ?? system ?? 'Unknown device'
}
