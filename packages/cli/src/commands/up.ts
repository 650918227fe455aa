import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { UsageError } from '../failure.ts'
import { readFlags, type Word } from '../options.ts'
import { PACKAGE_FOLDER } from '../package-folder.ts'

/** Starts the service of this repository, in the foreground, as `npm start` does. */
export async function run(rest: readonly Word[]): Promise<number> {
  readFlags(rest, { positions: 0 })
  return await runInRepository('src/launch.ts', [])
}

/** Runs a program of the repository that this command line is part of, in the foreground, and returns its exit code. */
export async function runInRepository(program: string, args: readonly string[]): Promise<number> {
  const root = path.join(PACKAGE_FOLDER, '../..')
  const file = path.join(root, program)
  if (!existsSync(file))
    throw new UsageError('This installation does not include the service', 'Clone the repository and run the command there')
  const child = spawn(process.execPath, [...flagsOf(root), file, ...args], { stdio: 'inherit', cwd: root })
  // A terminal sends Ctrl-C to both processes; the service needs time to stop.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => signal !== 'SIGINT' && child.kill(signal))
  return await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code, signal) => resolve(signal ? 128 + os.constants.signals[signal] : (code ?? 1)))
  })
}

/** The Node flags of the `start` script, so that both ways run the same. */
function flagsOf(root: string): string[] {
  const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { scripts: { start: string } }
  const [, command = ''] = scripts.start.split(' exec ') // What comes before it looks for Node.
  return command.split(' ').filter((word) => word.startsWith('--'))
}
