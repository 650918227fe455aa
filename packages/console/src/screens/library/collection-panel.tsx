/** The collections of the project, and what can be done with them. */
import { Link, useNavigate } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import type { Collection, Project } from '../../api/contract.ts'
import { mayManage, useWho } from '../../state/who.ts'
import { bytes, count } from '../../ui/format.ts'
import { Button, Choice, LinkButton } from '../../ui/kit.ts'
import { NewCollection, NewProject } from '../../parts/project-dialogs.tsx'
import { ShareDialog } from '../../parts/share.ts'
import { classes } from '../../ui/classes.ts'
import workspaceStyles from '../../parts/workspace.module.css'
import styles from './collection-panel.module.css'
import ui from '../../ui/ui.module.css'

interface PanelParts {
  project: Project
  projects: readonly Project[]
  collections: readonly Collection[]
  collectionId: string | undefined
  canWrite: boolean
}

const HEX_COLOUR = /^#[0-9a-f]{3,8}$/i
/** Items in no collection; the address calls them `loose`. */
const UNCOLLECTED = { id: 'loose', name: 'Not in a collection', color: null, item_count: null }

export function CollectionPanel({ project, projects, collections, collectionId, canWrite }: PanelParts): ReactElement {
  const navigate = useNavigate()
  const who = useWho()
  const [dialog, setDialog] = useState<'project' | 'collection' | 'share' | null>(null)
  const current = collections.find(({ id }) => id === collectionId)
  return (
    <aside className={styles.sidebar} aria-label="Collections">
      <div className={workspaceStyles.section}>
        <Choice
          label="Project"
          value={project.id}
          onChange={(event) =>
            void (event.target.value === '+'
              ? setDialog('project')
              : navigate({ to: '/library/$project', params: { project: event.target.value } }))
          }
          options={[
            ...projects.map(({ id, name, is_archived }) => ({ value: id, text: is_archived ? `${name} (archived)` : name })),
            { value: '+', text: 'Create project…' },
          ]}
        />
      </div>
      <div className={classes(ui.flexRow, ui.between, styles.sectionTitle)}>
        <h2 className={ui.panelTitle}>Collections</h2>
        {canWrite && <Button variant="quiet" size="s" icon="plus" label="Create collection" onClick={() => setDialog('collection')} />}
      </div>
      <CollectionList project={project} collections={collections} collectionId={collectionId} />
      <div className={classes(workspaceStyles.section, styles.pushDown)}>
        <div className={classes(ui.flexRow, ui.between, ui.small)}>
          <span>Project storage</span>
          <span className={classes(ui.soft, ui.numeric)}>{bytes(project.storage_bytes)}</span>
        </div>
        <div className={classes(ui.flexRow, ui.gap6, ui.wrap, ui.marginTop12)}>
          {current && canWrite && (
            <Button size="s" icon="share" onClick={() => setDialog('share')}>
              Share collection
            </Button>
          )}
          {mayManage(who, project) && (
            <LinkButton size="s" icon="users" to="/team/projects" search={{ project: project.id }}>
              Members
            </LinkButton>
          )}
          <LinkButton size="s" icon="layers" to="/maps" search={{ project: project.id }}>
            Maps
          </LinkButton>
          <LinkButton size="s" icon="share" to="/shares" search={{ project: project.id }}>
            Share links
          </LinkButton>
          <LinkButton
            size="s"
            icon="flow"
            to="/lineage/$type/$id"
            params={{ type: current ? 'collection' : 'project', id: current?.id ?? project.id }}
          >
            Lineage
          </LinkButton>
        </div>
      </div>
      {dialog === 'project' && <NewProject onClose={() => setDialog(null)} />}
      {dialog === 'collection' && <NewCollection projectId={project.id} onClose={() => setDialog(null)} />}
      {dialog === 'share' && current && (
        <ShareDialog type="collection" id={current.id} name={current.name} mayWrite={canWrite} onClose={() => setDialog(null)} />
      )}
    </aside>
  )
}

type ListParts = Pick<PanelParts, 'project' | 'collections' | 'collectionId'>

function CollectionList({ project, collections, collectionId }: ListParts): ReactElement {
  const params = { project: project.id }
  return (
    <ul className={styles.collections}>
      <li>
        <Link to="/library/$project" params={params} className={collectionId ? '' : styles.selected}>
          <Entry colour="linear-gradient(135deg,var(--c1),var(--c3))" name="All items" items={project.item_count} />
        </Link>
      </li>
      {[...collections, UNCOLLECTED].map(({ id, name, color, item_count }) => (
        <li key={id}>
          <Link
            to="/library/$project/$collection"
            params={{ ...params, collection: id }}
            className={id === collectionId ? styles.selected : ''}
          >
            <Entry colour={color && HEX_COLOUR.test(color) ? color : 'var(--c6)'} name={name} items={item_count} />
          </Link>
        </li>
      ))}
    </ul>
  )
}

const Entry = ({ colour, name, items }: { colour: string; name: string; items: number | null }): ReactElement => (
  <>
    <i className={styles.swatch} style={{ background: colour }} />
    <span className={classes(ui.grow, ui.ellipsis)}>{name}</span>
    {items !== null && <span className={classes(ui.soft, ui.numeric)}>{count(items)}</span>}
  </>
)
