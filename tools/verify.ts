/** `npm run verify -- FOLDER`: reads a backup again. Exits with 1 if something differs. */
import { folderOf, runCommand } from './backup/command.ts'
import { openProgress } from './backup/progress.ts'
import { verifyBackup } from './backup/verify.ts'

const USAGE = `Usage: npm run verify -- FOLDER

Reads every row and every file of a backup again, and lists what differs from the SHA-256 in its manifest. Needs neither the service
nor its database.`

await runCommand(USAGE, async (args) => {
  const { differences, rows, objects } = await verifyBackup(folderOf(args), openProgress(process.stderr))
  if (differences.length === 0) return { text: `The backup is complete: ${rows} rows and ${objects} files`, isOk: true }
  return { text: [`The backup is damaged, in ${differences.length} places:`, ...differences].join('\n'), isOk: false }
})
