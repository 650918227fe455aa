/** The named maps of the organization, last changed first. */
import { Link } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import type { Output } from '../../api/contract.ts'
import { usePages } from '../../api/query.ts'
import { NewMap, RenameMap } from '../../parts/maps.tsx'
import { ShareDialog } from '../../parts/share.ts'
import { useTitle } from '../../state/crumbs.ts'
import { deleteLater } from '../../state/delete-later.ts'
import { useUrl } from '../../state/url.ts'
import { useProjects, useWritableProjects } from '../../state/who.ts'
import { ago, plural } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Button, Card, Page } from '../../ui/kit.ts'
import { Empty, Loaded, More } from '../../ui/states.tsx'
import { classes } from '../../ui/classes.ts'
import styles from './maps.module.css'
import ui from '../../ui/ui.module.css'

type Summary = Output<'maps.list'>['maps'][number]

const PAGE = 50

export function Maps(): ReactElement {
  const [url] = useUrl()
  const projects = useProjects()
  const { writable } = useWritableProjects()
  const maps = usePages('maps.list', { project_id: url['project'] ?? null }, { size: PAGE, key: 'id', rows: (page) => page.maps })
  const [isCreating, setCreating] = useState(false)
  useTitle({ text: 'Library', to: '/library' }, 'Maps')
  const create = writable.length > 0 && (
    <Button variant="primary" icon="plus" onClick={() => setCreating(true)}>
      New map
    </Button>
  )
  return (
    <Page title="Maps" about="Layers of imagery and shapes, saved together. A map can be shared as a link." actions={create}>
      <Loaded
        query={maps.query}
        empty={({ rows }) =>
          rows.length === 0 && (
            <Empty icon="layers" title="No maps yet">
              Open an item and select Save as map, or create an empty map and add layers.
            </Empty>
          )
        }
      >
        {({ first, rows }) => (
          <Card title={plural(first.total, 'map')}>
            {rows.map((map) => (
              <MapRow
                key={map.id}
                map={map}
                project={projects.data?.projects.find(({ id }) => id === map.project_id)?.name ?? null}
                mayWrite={writable.some(({ id }) => id === map.project_id)}
              />
            ))}
            <More pages={maps} />
          </Card>
        )}
      </Loaded>
      {isCreating && <NewMap title="New map" projects={ordered(writable, url['project'])} onClose={() => setCreating(false)} />}
    </Page>
  )
}

/** The project of the list is offered first. */
const ordered = <T extends { id: string }>(projects: readonly T[], first: string | undefined): T[] =>
  projects.toSorted((a, b) => Number(b.id === first) - Number(a.id === first))

/** What is not there is not mentioned. */
function contentOf({ layer_count, annotation_count, comment_count, open_comment_count }: Summary): string {
  return [
    plural(layer_count, 'layer'),
    annotation_count > 0 ? plural(annotation_count, 'annotation') : null,
    comment_count > 0 ? `${plural(comment_count, 'comment')} (${open_comment_count} open)` : null,
  ]
    .filter(Boolean)
    .join(', ')
}

function MapRow({ map, project, mayWrite }: { map: Summary; project: string | null; mayWrite: boolean }): ReactElement {
  const { id, name, updated_at } = map
  const [dialog, setDialog] = useState<'share' | 'rename' | null>(null)
  const remove = () => deleteLater({ operation: 'maps.delete', input: { map_id: id }, name, touches: ['maps', 'share'] })
  return (
    <div className={classes(ui.flexRow, ui.gap12, styles.entry)}>
      <Icon name="layers" />
      <span className={classes(ui.grow, styles.about)}>
        <Link to="/maps/$map" params={{ map: id }} className={classes(ui.ellipsis, ui.block)}>
          <b>{name}</b>
        </Link>
        <span className={classes(ui.soft, ui.small)}>
          {contentOf(map)}
          {project && `, ${project}`}, changed {ago(updated_at)}
        </span>
      </span>
      {mayWrite && (
        <span className={classes(ui.flexRow, ui.gap6)}>
          <Button size="s" icon="share" label={`Share ${name}`} onClick={() => setDialog('share')} />
          <Button size="s" variant="quiet" onClick={() => setDialog('rename')}>
            Rename
          </Button>
          <Button size="s" variant="quiet" icon="trash" label={`Delete ${name}`} onClick={remove} />
        </span>
      )}
      {dialog === 'share' && <ShareDialog type="map" id={id} name={name} mayWrite={mayWrite} onClose={() => setDialog(null)} />}
      {dialog === 'rename' && <RenameMap map={map} onClose={() => setDialog(null)} />}
    </div>
  )
}
