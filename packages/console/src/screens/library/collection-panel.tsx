/** The project's collections beside its items. */
import { Link, useNavigate } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import type { Collection, Project } from '../../api/contract.ts'
import { mayManage, useWho } from '../../state/who.ts'
import { bytes } from '../../ui/format.ts'
import { Button, Choice, LinkButton } from '../../ui/kit.ts'
import { NewCollection, NewProject } from '../../parts/project-dialogs.tsx'
import { ShareDialog } from '../../parts/share.ts'
import { classes } from '../../ui/classes.ts'
import workspaceStyles from '../../parts/workspace.module.css'
import styles from './library.module.css'
import ui from '../../ui/ui.module.css'

interface PanelParts {
  project: Project
  projects: readonly Project[]
  collections: readonly Collection[]
  collectionId: string | undefined
  canWrite: boolean
}

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
            { value: '+', text: 'New project…' },
          ]}
        />
      </div>
      <div className={classes(ui.flexRow, ui.between, styles.sectionTitle)}>
        <h2 className={ui.panelTitle}>Collections</h2>
        {canWrite && <Button variant="quiet" size="s" icon="plus" label="New collection" onClick={() => setDialog('collection')} />}
      </div>
      <ul className={styles.collections}>
        <li>
          <Link to="/library/$project" params={{ project: project.id }} className={collectionId ? '' : styles.selected}>
            <i className={styles.swatch} style={{ background: 'linear-gradient(135deg,var(--c1),var(--c3))' }} />
            <span className={classes(ui.grow, ui.ellipsis)}>All items</span>
            <span className={classes(ui.soft, ui.numeric)}>{project.item_count}</span>
          </Link>
        </li>
        {collections.map((collection) => (
          <li key={collection.id}>
            <Link
              to="/library/$project/$collection"
              params={{ project: project.id, collection: collection.id }}
              className={collection.id === collectionId ? styles.selected : ''}
            >
              <i
                className={styles.swatch}
                style={{ background: /^#[0-9a-f]{3,8}$/i.test(collection.color ?? '') ? collection.color! : 'var(--c6)' }}
              />
              <span className={classes(ui.grow, ui.ellipsis)}>{collection.name}</span>
              <span className={classes(ui.soft, ui.numeric)}>{collection.item_count}</span>
            </Link>
          </li>
        ))}
        <li>
          <Link
            to="/library/$project/$collection"
            params={{ project: project.id, collection: 'loose' }}
            className={collectionId === 'loose' ? styles.selected : ''}
          >
            <i className={styles.swatch} style={{ background: 'var(--c6)' }} />
            <span className={classes(ui.grow, ui.ellipsis)}>Not in a collection</span>
          </Link>
        </li>
      </ul>
      <div className={classes(workspaceStyles.section, styles.pushDown)}>
        <div className={classes(ui.flexRow, ui.between, ui.small)}>
          <span>Storage of this project</span>
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
              People
            </LinkButton>
          )}
          <LinkButton size="s" icon="share" to="/shares" search={{ project: project.id }}>
            Links
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
