import { Link } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { itemsIn } from '../../state/found-item.ts'
import { useProjects } from '../../state/who.ts'
import { dateTime } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { LinkButton, Page } from '../../ui/kit.ts'
import { Empty, Skeleton } from '../../ui/states.tsx'
import { classes } from '../../ui/classes.ts'
import cardStyles from '../../ui/card.module.css'
import listStyles from '../../ui/list.module.css'
import ui from '../../ui/ui.module.css'

const MAX_RECENT = 20

/** Recent items and all projects, to start from. */
export function LineageStart(): ReactElement {
  const projects = useProjects()
  const recent = useOp('items.search_org', { limit: MAX_RECENT })
  useTitle('Lineage')
  return (
    <Page title="Lineage" about="Choose an item to see its sources and what was derived from it.">
      <div className={cardStyles.card}>
        {!recent.data && <Skeleton />}
        {recent.data?.features.length === 0 && (
          <Empty icon="flow" title="No items yet" actions={<LinkButton to="/welcome">First steps</LinkButton>} />
        )}
        {itemsIn(recent.data).map(({ id, name, datetime }) => (
          <div key={id} className={listStyles.entry}>
            <Icon name="image" />
            <Link className={ui.grow} to="/lineage/$type/$id" params={{ type: 'item', id }}>
              {name}
            </Link>
            <span className={classes(ui.soft, ui.small)}>{dateTime(datetime)}</span>
          </div>
        ))}
        {(projects.data?.projects ?? []).map(({ id, name }) => (
          <div key={id} className={listStyles.entry}>
            <Icon name="folder" />
            <Link className={ui.grow} to="/lineage/$type/$id" params={{ type: 'project', id }}>
              Project {name}
            </Link>
          </div>
        ))}
      </div>
    </Page>
  )
}
