/** What the team writes about a map and its annotations. Visitors of a share link never see it. */
import { useRef, useState, type FormEvent, type ReactElement, type Ref } from 'react'
import type { Output, Project } from '../../api/contract.ts'
import { useAct, usePages } from '../../api/query.ts'
import { boxOf } from '../../map/geo.ts'
import { sharedMap } from '../../map/shared-map.ts'
import { deleteLater } from '../../state/delete-later.ts'
import { mayManage, mayWrite, useWho } from '../../state/who.ts'
import { ago, localTime, plural } from '../../ui/format.ts'
import { Badge, Button, Check, Choice } from '../../ui/kit.ts'
import { FormProblem, Loaded, More } from '../../ui/states.tsx'
import { classes } from '../../ui/classes.ts'
import type { Annotation, SavedMap } from './draft.ts'
import styles from './comments.module.css'
import fieldStyles from '../../ui/field.module.css'
import workspaceStyles from '../../parts/workspace.module.css'
import ui from '../../ui/ui.module.css'

type Comment = Output<'maps.comments.list'>['comments'][number]

const PAGE = 50
const MAX_TEXT = 2_000
/** Others write at the same time. */
const REFRESH_MS = 30_000
const MAX_TITLE = 40

/** How an annotation is called where there is little room. */
function titleOf({ text }: Annotation, index: number): string {
  const line = text.trim().split('\n')[0]!
  if (line === '') return `Annotation ${index + 1}`
  return line.length > MAX_TITLE ? `${line.slice(0, MAX_TITLE)}…` : line
}

export function Comments({ map, project }: { map: SavedMap; project: Project | null }): ReactElement {
  const [showsResolved, setShowsResolved] = useState(false)
  const comments = usePages(
    'maps.comments.list',
    { map_id: map.id, ...(showsResolved ? {} : { resolved: false }) },
    { size: PAGE, key: 'id', rows: (page) => page.comments, refetchInterval: REFRESH_MS },
  )
  const [about, setAbout] = useState('')
  const box = useRef<HTMLTextAreaElement>(null)
  const canComment = project !== null && !project.is_archived
  const reply = ({ annotation_id }: Comment) => {
    setAbout(annotation_id ?? '')
    box.current?.focus()
  }
  return (
    <section className={workspaceStyles.section} aria-label="Comments">
      <div className={classes(ui.flexRow, ui.between)}>
        <h2 className={ui.panelTitle}>Comments</h2>
        <Check checked={showsResolved} onChange={setShowsResolved}>
          Show resolved
        </Check>
      </div>
      {canComment && <NewComment map={map} about={about} onAbout={setAbout} box={box} />}
      <Loaded
        query={comments.query}
        rows={2}
        empty={({ rows }) =>
          rows.length === 0 && (
            <p className={classes(ui.soft, ui.small, ui.marginTop8)}>{showsResolved ? 'No comments yet.' : 'No open comments.'}</p>
          )
        }
      >
        {({ first, rows }) => (
          <>
            <p className={classes(ui.soft, ui.small, ui.marginTop8)}>{plural(first.total, 'comment')}, newest first</p>
            <ul className={styles.list}>
              {rows.map((comment) => (
                <Entry key={comment.id} {...{ comment, map, project }} onReply={() => reply(comment)} />
              ))}
            </ul>
            <More pages={comments} />
          </>
        )}
      </Loaded>
    </section>
  )
}

interface NewParts {
  map: SavedMap
  /** ID of the annotation; empty for the map. */
  about: string
  onAbout(id: string): void
  box: Ref<HTMLTextAreaElement>
}

function NewComment({ map, about, onAbout, box }: NewParts): ReactElement {
  const create = useAct('maps.comments.create', ['maps'])
  const [text, setText] = useState('')
  const annotation = map.annotations.find(({ id }) => id === about)
  const send = (event: FormEvent) => {
    event.preventDefault()
    create.mutate({ map_id: map.id, text, annotation_id: annotation?.id ?? null }, { onSuccess: () => setText('') })
  }
  return (
    <form className={classes(ui.flexColumn, ui.gap6, ui.marginTop8)} onSubmit={send}>
      {map.annotations.length > 0 && (
        <Choice
          label="About"
          value={annotation?.id ?? ''}
          onChange={(event) => onAbout(event.target.value)}
          options={[
            { value: '', text: 'The whole map' },
            ...map.annotations.map((each, index) => ({ value: each.id, text: titleOf(each, index) })),
          ]}
        />
      )}
      <label className={ui.flexColumn}>
        <span className={fieldStyles.label}>New comment</span>
        <textarea
          ref={box}
          className={fieldStyles.textArea}
          rows={3}
          required
          maxLength={MAX_TEXT}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <FormProblem error={create.error} />
      <div>
        <Button type="submit" size="s" disabled={text.trim() === ''} busy={create.isPending}>
          Comment
        </Button>
      </div>
    </form>
  )
}

interface EntryParts {
  comment: Comment
  map: SavedMap
  project: Project | null
  onReply(): void
}

function Entry({ comment, map, project, onReply }: EntryParts): ReactElement {
  const { author_name, created_at, edited_at, resolved, text } = comment
  const [isEditing, setEditing] = useState(false)
  const author = author_name ?? 'API key'
  return (
    <li className={styles.comment} aria-label={`Comment by ${author}`}>
      <div className={classes(ui.flexRow, ui.gap6, ui.wrap)}>
        <b className={ui.breakAnywhere}>{author}</b>
        <span className={classes(ui.soft, ui.small)} title={localTime(created_at)}>
          {ago(created_at)}
          {edited_at && ', edited'}
        </span>
        {resolved && <Badge tone="ok">Resolved</Badge>}
      </div>
      <About comment={comment} annotations={map.annotations} />
      {isEditing ? <Edit comment={comment} onClose={() => setEditing(false)} /> : <p className={styles.text}>{text}</p>}
      {!isEditing && project && !project.is_archived && (
        <Actions {...{ comment, project, author, onReply }} onEdit={() => setEditing(true)} />
      )}
    </li>
  )
}

/** Which annotation it is about; goes there. */
function About({ comment: { annotation_id }, annotations }: { comment: Comment; annotations: readonly Annotation[] }): ReactElement | null {
  if (annotation_id === null) return null
  const index = annotations.findIndex(({ id }) => id === annotation_id)
  const annotation = annotations[index]
  if (!annotation) return <p className={classes(ui.soft, ui.small)}>About an annotation that was removed</p>
  const go = () => sharedMap().fit(boxOf(annotation.geometry as unknown as GeoJSON.Geometry))
  return (
    <div>
      <Button size="s" variant="quiet" icon="pin" onClick={go}>
        About {titleOf(annotation, index)}
      </Button>
    </div>
  )
}

interface ActionParts {
  comment: Comment
  project: Project
  author: string
  onReply(): void
  onEdit(): void
}

function Actions({ comment, project, author, onReply, onEdit }: ActionParts): ReactElement {
  const who = useWho()
  const update = useAct('maps.comments.update', ['maps'])
  const { id, map_id, author_id, resolved } = comment
  const isMine = author_id !== null && author_id === who.userId
  const remove = () =>
    deleteLater({
      operation: 'maps.comments.delete',
      input: { map_id, comment_id: id },
      name: `the comment by ${author}`,
      touches: ['maps'],
    })
  return (
    <>
      <div className={classes(ui.flexRow, ui.gap6, ui.wrap)}>
        <Button size="s" variant="quiet" onClick={onReply}>
          Reply
        </Button>
        {isMine && (
          <Button size="s" variant="quiet" onClick={onEdit}>
            Edit
          </Button>
        )}
        {mayWrite(who, project) && (
          <Button
            size="s"
            variant="quiet"
            busy={update.isPending}
            onClick={() => update.mutate({ map_id, comment_id: id, resolved: !resolved })}
          >
            {resolved ? 'Reopen' : 'Resolve'}
          </Button>
        )}
        {(isMine || mayManage(who, project)) && (
          <Button size="s" variant="quiet" icon="trash" label={`Delete the comment by ${author}`} onClick={remove} />
        )}
      </div>
      <FormProblem error={update.error} />
    </>
  )
}

function Edit({ comment: { id, map_id, text: before }, onClose }: { comment: Comment; onClose(): void }): ReactElement {
  const update = useAct('maps.comments.update', ['maps'])
  const [text, setText] = useState(before)
  const send = (event: FormEvent) => {
    event.preventDefault()
    update.mutate({ map_id, comment_id: id, text }, { onSuccess: onClose })
  }
  return (
    <form className={classes(ui.flexColumn, ui.gap6)} onSubmit={send}>
      <textarea
        className={fieldStyles.textArea}
        aria-label="Text of the comment"
        rows={3}
        required
        autoFocus
        maxLength={MAX_TEXT}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <FormProblem error={update.error} />
      <div className={classes(ui.flexRow, ui.gap6)}>
        <Button type="submit" size="s" disabled={text.trim() === ''} busy={update.isPending}>
          Save comment
        </Button>
        <Button size="s" variant="quiet" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </form>
  )
}
