import type { ReactElement } from 'react'
import { useOp } from '../api/query.ts'
import { useTitle } from '../shell/crumbs.tsx'
import { useUrl } from '../shell/url.ts'
import { mayWrite, useProjects, useWho } from '../shell/who.ts'
import { plural } from '../ui/format.ts'
import { Card, LinkButton, Page } from '../ui/kit.tsx'
import { Empty, Loaded } from '../ui/states.tsx'
import { ShareRow } from './share-dialog.tsx'

/** Every link that somebody outside can open. */
export function Shares(): ReactElement {
  const [url] = useUrl()
  const who = useWho()
  const projects = useProjects()
  const links = useOp('share.links.list', { project_id: url['project'] ?? null, limit: 100 })
  useTitle({ text: 'Library', to: '/library' }, 'Share links')
  const canWrite = (id: string) =>
    mayWrite(
      who,
      projects.data?.projects.find((project) => project.id === id),
    )
  return (
    <Page title="Share links" about="Who has a link and its password sees one item or collection, without an account.">
      <Loaded
        query={links}
        empty={({ share_links }) =>
          share_links.length === 0 && (
            <Empty icon="share" title="Nothing is shared" actions={<LinkButton to="/library">Open the library</LinkButton>}>
              Open an item and press Share.
            </Empty>
          )
        }
      >
        {({ share_links, total }) => (
          <Card title={plural(total, 'link')}>
            {share_links.map((link) => (
              <ShareRow key={link.id} link={link} mayWrite={canWrite(link.project_id)} named />
            ))}
          </Card>
        )}
      </Loaded>
    </Page>
  )
}
