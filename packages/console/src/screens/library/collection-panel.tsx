/** The project's collections beside its items. */
import { Link, useNavigate } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import type { Collection, Project } from '../../api/contract.ts'
import { mayManage, useWho } from '../../state/who.ts'
import { bytes } from '../../ui/format.ts'
import { Button, Choice, LinkButton } from '../../ui/kit.tsx'
import { NewCollection, NewProject } from '../../parts/project-dialogs.tsx'
import { ShareDialog } from '../../parts/share.ts'

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
    <aside className="lib-side" aria-label="Collections">
      <div className="sec">
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
      <div className="row between sec-title">
        <h2 className="panel-title">Collections</h2>
        {canWrite && <Button look="quiet" size="s" icon="plus" label="New collection" onClick={() => setDialog('collection')} />}
      </div>
      <ul className="lib-list">
        <li>
          <Link to="/library/$project" params={{ project: project.id }} className={collectionId ? '' : 'on'}>
            <i className="sq2" style={{ background: 'linear-gradient(135deg,var(--c1),var(--c3))' }} />
            <span className="grow cut">All items</span>
            <span className="soft num">{project.item_count}</span>
          </Link>
        </li>
        {collections.map((one) => (
          <li key={one.id}>
            <Link
              to="/library/$project/$collection"
              params={{ project: project.id, collection: one.id }}
              className={one.id === collectionId ? 'on' : ''}
            >
              <i className="sq2" style={{ background: /^#[0-9a-f]{3,8}$/i.test(one.color ?? '') ? one.color! : 'var(--c6)' }} />
              <span className="grow cut">{one.name}</span>
              <span className="soft num">{one.item_count}</span>
            </Link>
          </li>
        ))}
        <li>
          <Link
            to="/library/$project/$collection"
            params={{ project: project.id, collection: 'loose' }}
            className={collectionId === 'loose' ? 'on' : ''}
          >
            <i className="sq2" style={{ background: 'var(--c6)' }} />
            <span className="grow cut">Not in a collection</span>
          </Link>
        </li>
      </ul>
      <div className="sec push-down">
        <div className="row between sm">
          <span>Storage of this project</span>
          <span className="soft num">{bytes(project.storage_bytes)}</span>
        </div>
        <div className="row g6 wrap mt12">
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
