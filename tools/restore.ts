/** `npm run restore -- FOLDER`: restores a backup into an empty installation. */
import { folderOf, runCommand, withInstallation } from './backup/command.ts'
import { openProgress, sizeText } from './backup/progress.ts'
import { restoreBackup } from './backup/put-back.ts'

const USAGE = `Usage: npm run restore -- FOLDER

Restores a backup into the installation that the settings describe: the embedded database or DATABASE_URL, and the files in DATA_DIR
or STORAGE_URL. Both must be empty. If it is interrupted, no process starts on the target; run it again to continue.`

await runCommand(USAGE, async (args) => {
  const folder = folderOf(args)
  const { manifest, needsOtherKey } = await withInstallation((target) => restoreBackup(target, folder, openProgress(process.stderr)))
  const { tables, objects, created_at } = manifest
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  const files = `${objects.count} files (${sizeText(objects.bytes)})`
  const done = `Restored ${rows} rows of ${tables.length} tables and ${files}, as of ${created_at}`
  const key = needsOtherKey
    ? ['Credentials of vendor accounts are encrypted with another key: set its SECRETS_KEY, or copy its secrets.key to DATA_DIR.']
    : []
  return { text: [done, ...key].join('\n'), isOk: true }
})
