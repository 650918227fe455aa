/** The project to use when the command names none. */
import type { Client } from '../../client/src/core.ts'
import { accountOf } from './config.ts'
import { UsageError } from './failure.ts'
import type { GlobalOptions } from './options.ts'

export async function projectFor(client: Client, named: string | undefined, options: GlobalOptions): Promise<string> {
  const known = named ?? accountOf(options).project
  if (known !== undefined) return known
  const { projects } = await client.call<{ projects: { id: string; name: string }[] }>('projects.list', { limit: 20 }, {}, 'read')
  if (projects.length === 1) return projects[0]!.id
  const list = projects.map(({ id, name }) => `  ${id}  ${name}`).join('\n')
  throw new UsageError(
    projects.length === 0
      ? 'This organization has no projects; create one with: groundtrack projects create --name NAME'
      : `Choose a project with --project:\n${list}`,
  )
}
