import type { ReactElement } from 'react'
import { usePages } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useUrl } from '../../state/url.ts'
import { mayWrite, useProjects, useWho } from '../../state/who.ts'
import { plural } from '../../ui/format.ts'
import { Card, LinkButton, Page } from '../../ui/kit.ts'
import { Empty, Loaded, More } from '../../ui/states.tsx'
import { ShareRow } from '../../parts/share-dialog.tsx'

const PAGE = 100

/** Every link that somebody outside can open. */
export function Shares(): ReactElement {
  const [url] = useUrl()
  const who = useWho()
  const projects = useProjects()
  const links = usePages(
    'share.links.list',
    { project_id: url['project'] ?? null },
    { size: PAGE, key: 'id', rows: ({ share_links }) => share_links },
  )
  useTitle({ text: 'Library', to: '/library' }, 'Share links')
  const canWrite = (id: string) =>
    mayWrite(
      who,
      projects.data?.projects.find((project) => project.id === id),
    )
  return (
    <Page title="Share links" about="Anyone with a link and its password can see one item, collection or map, without an account.">
      <Loaded
        query={links.query}
        empty={({ rows }) =>
          rows.length === 0 && (
            <Empty icon="share" title="No share links yet" actions={<LinkButton to="/library">Open the library</LinkButton>}>
              Open an item and select Share.
            </Empty>
          )
        }
      >
        {({ first, rows }) => (
          <Card title={plural(first.total, 'link')}>
            {rows.map((link) => (
              <ShareRow key={link.id} link={link} mayWrite={canWrite(link.project_id)} named />
            ))}
            <More pages={links} />
          </Card>
        )}
      </Loaded>
    </Page>
  )
}
