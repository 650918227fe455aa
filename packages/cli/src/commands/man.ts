import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { readFlags, type Run } from '../options.ts'
import { PACKAGE_FOLDER } from '../package-folder.ts'
import { print } from '../terminal.ts'

/** Shows the page with `man` on a terminal, else prints its source. */
export const run: Run = async (rest) => {
  readFlags(rest, { positions: 0 })
  const page = path.join(PACKAGE_FOLDER, 'man/groundtrack.1')
  if (process.stdout.isTTY && spawnSync('man', [page], { stdio: 'inherit' }).status === 0) return
  await print(readFileSync(page, 'utf8'))
}
