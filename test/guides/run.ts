/** Runs a guide as its reader would: its shell, then its programs. */
import { execFile, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { scriptOf, typescriptOf, type Guide } from './blocks.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const GUIDE_TIMEOUT_MS = 1_800_000
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024

/** GUIDE_PYTHON names one that has the packages of the guides, where the machine's own has not. */
export const PYTHON = process.env['GUIDE_PYTHON'] ?? 'python3'

/** The client of the checkout, which a reader has installed. */
const CLIENT_ENVIRONMENT = { PYTHONPATH: path.join(ROOT, 'packages/python/src'), PYTHONDONTWRITEBYTECODE: '1' }

const known = new Map<string, boolean>()

export function lacks(name: string): boolean {
  if (!known.has(name)) known.set(name, spawnSync(PYTHON, ['-c', `import ${name}`]).status !== 0)
  return known.get(name)!
}

/** Runs a guide in a folder of its own, in one shell as a person would. Gives what each block and each program printed. */
export async function run(guide: Guide, folder: string, given: Record<string, string>): Promise<{ printed: string[]; complaint: string }> {
  const programs: string[] = []
  if (guide.programs.ts !== '') programs.push(`'${process.execPath}' guide.mts`)
  if (guide.programs.python !== '') programs.push(`'${PYTHON}' guide.py`)
  fs.writeFileSync(path.join(folder, 'guide.sh'), scriptOf(guide.blocks, { root: ROOT, node: process.execPath, programs }))
  fs.writeFileSync(path.join(folder, 'guide.mts'), typescriptOf(guide, ROOT))
  fs.writeFileSync(path.join(folder, 'guide.py'), guide.programs.python)
  fs.symlinkSync(path.join(ROOT, 'docs'), path.join(folder, 'docs')) // Readers are in the folder of the checkout.
  const accounts = path.join(folder, 'accounts.json')
  const env = { ...process.env, ...given, GDAL_ENABLE_WMS_CACHE: 'NO', GROUNDTRACK_CONFIG: accounts, ...CLIENT_ENVIRONMENT }
  const options = { cwd: folder, env, timeout: GUIDE_TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES }
  return await new Promise((resolve) => {
    execFile('bash', ['guide.sh'], options, (error, stdout, stderr) => {
      const printed = stdout.split(/^=== block \d+\n/m).slice(1)
      resolve({ printed, complaint: error ? `${error.message}\n${stderr}\n${stdout.slice(-2_000)}` : '' })
    })
  })
}
