/** `npm run org -- export|import|erase`: one organization, with all of its data. */
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { systemClock } from '#core/clock.ts'
import { runCommand, UsageError, withInstallation } from './backup/command.ts'
import { openProgress, sizeText } from './backup/progress.ts'
import { eraseOrganization, STANDARD_KEEP_YEARS } from './org/erase.ts'
import { exportOrganization } from './org/export.ts'
import { importOrganization } from './org/import.ts'
import type { Proof } from './org/proof.ts'

const USAGE = `Usage: npm run org -- export ORGANIZATION FOLDER
       npm run org -- import FOLDER
       npm run org -- erase ORGANIZATION --confirm SLUG [--keep-years N] [--proof FILE]

  export   write all data and files of an organization, given by ID or slug, to a new folder
  import   add an exported organization to this installation; people who have no account here get one without a password
  erase    delete all data and files of an organization, except records that the law requires, and print the proof; the same command
           continues an erasure that was interrupted

  --confirm      the slug of the organization again, because an erasure cannot be undone
  --keep-years   how long records of money are kept after the last transaction (default ${STANDARD_KEEP_YEARS})
  --proof        also write the proof to this file`

const MAX_YEARS = 100

interface Outcome {
  text: string
  isOk: boolean
}

function parse(args: readonly string[]) {
  const string = { type: 'string' } as const
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: { confirm: string, 'keep-years': string, proof: string } })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

await runCommand(USAGE, async (args) => {
  const { positionals, values } = parse(args)
  const [command, first, second, ...rest] = positionals
  if (command === 'export' && first && second && rest.length === 0) return await exporting(first, second)
  if (command === 'import' && first && !second) return await importing(first)
  if (command === 'erase' && first && !second) {
    const keepYears = Number(values['keep-years'] ?? STANDARD_KEEP_YEARS)
    if (!Number.isInteger(keepYears) || keepYears < 0 || keepYears > MAX_YEARS)
      throw new UsageError(`--keep-years must be an integer from 0 to ${MAX_YEARS}`)
    return await erasing(first, values.confirm ?? '', keepYears, values.proof ?? null)
  }
  throw new UsageError('Choose export, import or erase')
})

async function exporting(organization: string, folder: string): Promise<Outcome> {
  const manifest = await withInstallation((from) => exportOrganization(from, organization, folder, openProgress(process.stderr)))
  const { tables, objects, unfinished, problems } = manifest
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  const lines = [
    `Exported '${manifest.organization.name}': ${rows} rows and ${objects.count} files (${sizeText(objects.bytes)}) to ${folder}`,
  ]
  if (unfinished.length > 0) lines.push(`It cannot be imported elsewhere, because work has not ended: ${unfinished.join(', ')}`)
  return { text: [...lines, ...problems].join('\n'), isOk: problems.length === 0 }
}

async function importing(folder: string): Promise<Outcome> {
  const { manifest, newUsers, knownUsers } = await withInstallation((to) => importOrganization(to, folder, openProgress(process.stderr)))
  const { organization, objects } = manifest
  const people = `${newUsers} new accounts without a password, ${knownUsers} that were here before`
  return { text: `Imported '${organization.name}' (${organization.id}) with ${objects.count} files; ${people}`, isOk: true }
}

async function erasing(organization: string, confirmation: string, keepYears: number, file: string | null): Promise<Outcome> {
  const request = { idOrSlug: organization, confirmation, keepYears, now: systemClock.now() }
  const proof: Proof = await withInstallation((from) => eraseOrganization(from, request, openProgress(process.stderr)))
  const text = JSON.stringify(proof, null, 2)
  if (file !== null) await writeFile(file, `${text}\n`, { flush: true })
  return { text, isOk: proof.unexpected.length === 0 }
}
