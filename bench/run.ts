/** `npm run bench -- <name> [arguments]` runs one of the files beside this one; without a name it lists them. */
import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'

const here = import.meta.dirname
const benches = readdirSync(here)
  .filter((file) => file.endsWith('.ts') && file !== 'run.ts')
  .map((file) => path.basename(file, '.ts'))
const [name, ...rest] = process.argv.slice(2)

if (name === undefined || !benches.includes(name)) {
  if (name !== undefined) console.error(`There is no bench '${name}'.`)
  console.log('npm run bench -- <name>\n')
  for (const bench of benches.toSorted()) console.log(`  ${bench.padEnd(14)}${goalOf(bench)}`)
  process.exit(name === undefined ? 0 : 1)
}
process.exit(spawnSync(process.execPath, [path.join(here, `${name}.ts`), ...rest], { stdio: 'inherit' }).status ?? 1)

/** Each bench opens with a comment that states its goal. */
function goalOf(bench: string): string {
  return /^\/\*\* ?(.*?)(?:\*\/)?$/m.exec(readFileSync(path.join(here, `${bench}.ts`), 'utf8'))?.[1]?.trim() ?? ''
}
