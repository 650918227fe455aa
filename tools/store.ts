/** `npm run store -- owner|claim`: which installation the object store belongs to. */
import { migrate } from '#db/migrate.ts'
import { installationId } from '#model/platform/installation.ts'
import { claimStore, ownerOf } from '#services/store/owner.ts'
import { runCommand, UsageError, withInstallation } from './backup/command.ts'

const USAGE = `Usage: npm run store -- owner|claim

  owner   show the installation that the object store belongs to, and the ID of this one
  claim   make the store this installation's, for a database that was moved: from then on, files that its database does not refer
          to are removed. Never claim the store of an installation that is still in use.`

await runCommand(USAGE, async ([command, ...rest]) => {
  if ((command !== 'owner' && command !== 'claim') || rest.length > 0) throw new UsageError('Choose owner or claim')
  return await withInstallation(async ({ database, storage }) => {
    await migrate(database.db)
    const own = await installationId(database.db)
    const owner = await ownerOf(storage)
    if (command === 'claim') {
      if (owner !== own) await claimStore(storage, own)
      return {
        text: owner === own ? `The store is this installation's already (${own})` : `The store is now this installation's (${own})`,
        isOk: true,
      }
    }
    const text =
      owner === null ? 'The store belongs to nobody yet' : owner === own ? "The store is this one's" : `The store belongs to ${owner}`
    return { text: `${text}\nThis installation is ${own}`, isOk: owner === null || owner === own }
  })
})
