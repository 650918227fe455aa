/** `npm run backup -- FOLDER`: the database and all files of the installation as one snapshot. */
import { folderOf, runCommand, withInstallation } from './backup/command.ts'
import { openProgress, sizeText } from './backup/progress.ts'
import { takeBackup } from './backup/take.ts'

const USAGE = `Usage: npm run backup -- FOLDER

Writes the database and all files of the installation to a new folder, while the service runs or not. Run it again with the same
folder to continue a backup that was interrupted. The exit code is 1 if files had been lost or damaged before; the backup is
complete nevertheless, and names them.`

await runCommand(USAGE, async (args) => {
  const folder = folderOf(args)
  const manifest = await withInstallation((installation) => takeBackup(installation, folder, openProgress(process.stderr)))
  const { tables, objects, problems } = manifest
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  const done = `Backed up ${rows} rows of ${tables.length} tables and ${objects.count} files (${sizeText(objects.bytes)}) to ${folder}`
  const about = problems.length > 0 ? [`${problems.length} problems of the installation, which the backup cannot solve:`, ...problems] : []
  return { text: [done, ...about].join('\n'), isOk: problems.length === 0 }
})
