/** Files dropped or chosen; each tells how far it is, and why it was refused. */
import { useEffect, useState, type ReactElement } from 'react'
import type { Project } from '../../api/contract.ts'
import { useAct, useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useUrl } from '../../state/url.ts'
import { mayWrite, useProjects, useWho } from '../../state/who.ts'
import { ago, bytes, percent } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Bar, Button, Card, Check, Choice, LinkButton, Note, Page, State } from '../../ui/kit.ts'
import { Empty, Loaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { ImportStac } from './import-stac.tsx'
import { PlaceImage } from './place-image.tsx'
import { addFiles, continueUpload, isUploading, pause, remove, resume, useQueuedFiles, type QueuedFile } from './upload-work.ts'
import { classes } from '../../ui/classes.ts'
import styles from './uploads.module.css'
import buttonStyles from '../../ui/button.module.css'
import listStyles from '../../ui/list.module.css'
import ui from '../../ui/ui.module.css'

/** Takes files once it is known where they go. */
function FileChoice({ isReady, onChosen }: { isReady: boolean; onChosen: (files: FileList | null) => void }): ReactElement {
  return (
    <label className={classes(buttonStyles.button, buttonStyles.primary)}>
      <Icon name="up" />
      Choose files
      <input
        type="file"
        className={ui.screenReaderOnly}
        multiple
        accept=".tif,.tiff,image/tiff"
        disabled={!isReady}
        onChange={(event) => onChosen(event.target.files)}
      />
    </label>
  )
}

export function Uploads(): ReactElement {
  const who = useWho()
  const [url] = useUrl()
  const projects = useProjects()
  const [categorical, setCategorical] = useState(false)
  const [stac, setStac] = useState(false)
  const writable = (projects.data?.projects ?? []).filter((project) => mayWrite(who, project))
  const project = writable.find(({ id }) => id === url['project']) ?? writable[0]
  useTitle(project ? { text: project.name, to: `/library/${project.id}` } : 'Library', 'Uploads')
  useLeaveWarning()
  const take = (list: FileList | null) => {
    if (!project) return void toast('There is no project to put them into', 'bad')
    addFiles([...(list ?? [])], {
      projectId: project.id,
      ...(url['item'] ? { itemId: url['item'] } : { collectionId: url['collection'] ?? null }),
      categorical,
    })
  }
  if (projects.data && writable.length === 0) return <NoUploads hasProjects={projects.data.projects.length > 0} />
  return (
    <Page
      title="Uploads"
      about="GeoTIFF and COG. Files go straight to storage, in pieces, and continue after a lost connection."
      actions={
        <>
          <Button icon="code" onClick={() => setStac(true)}>
            Import STAC
          </Button>
          <FileChoice isReady={project !== undefined} onChosen={take} />
        </>
      }
    >
      <div className={classes(ui.grid, ui.twoToOne)}>
        <div className={classes(ui.flexColumn, ui.gap16)}>
          <DropZone
            writable={writable}
            projectId={project?.id ?? ''}
            categorical={categorical}
            onCategorical={setCategorical}
            onFiles={take}
          />
          <ThisVisit />
          {project && <Unfinished projectId={project.id} />}
        </div>
        <UploadNotes toItem={url['item'] !== undefined} />
      </div>
      {stac && project && <ImportStac projectId={project.id} collectionId={url['collection'] ?? null} onClose={() => setStac(false)} />}
    </Page>
  )
}

function NoUploads({ hasProjects }: { hasProjects: boolean }): ReactElement {
  const who = useWho()
  return (
    <Page title="Uploads">
      <Empty
        icon="lock"
        tone="warn"
        title={hasProjects ? 'View-only access' : 'There is no project yet'}
        actions={
          !hasProjects && who.isAdmin ? (
            <LinkButton to="/welcome" variant="primary">
              First steps
            </LinkButton>
          ) : null
        }
      >
        {hasProjects ? 'Ask an editor or admin of a project to upload for you, or to make you an editor.' : 'Files go into a project.'}
      </Empty>
    </Page>
  )
}

interface DropParts {
  writable: readonly Project[]
  projectId: string
  categorical: boolean
  onCategorical(on: boolean): void
  onFiles(files: FileList): void
}

function DropZone({ writable, projectId, categorical, onCategorical, onFiles }: DropParts): ReactElement {
  const [url, setUrl] = useUrl()
  const collections = useOp('collections.list', { project_id: projectId }, { enabled: projectId !== '' })
  return (
    <div
      className={styles.dropZone}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        onFiles(event.dataTransfer.files)
      }}
    >
      <span className={styles.dropIcon}>
        <Icon name="up" size={20} />
      </span>
      <div className={ui.grow}>
        <b>Drop files here</b>
        <div className={classes(ui.soft, ui.small)}>.tif and .tiff, up to 10 GiB each. Other formats: </div>
        <span className={classes(ui.mono, ui.small)}>gdal_translate -of COG in.jp2 out.tif</span>
      </div>
      <div className={classes(ui.flexColumn, ui.gap6)}>
        {writable.length > 1 && (
          <Choice
            label="Into project"
            hideLabel
            value={projectId}
            onChange={(event) => setUrl({ project: event.target.value, collection: null })}
            options={writable.map(({ id, name }) => ({ value: id, text: `Into: ${name}` }))}
          />
        )}
        <Choice
          label="Into collection"
          hideLabel
          value={url['collection'] ?? ''}
          onChange={(event) => setUrl({ collection: event.target.value || null })}
          options={[
            { value: '', text: 'No collection' },
            ...(collections.data ?? []).map(({ id, name }) => ({ value: id, text: `Into: ${name}` })),
          ]}
        />
        <Check checked={categorical} onChange={onCategorical}>
          Categorical data
        </Check>
      </div>
    </div>
  )
}

function ThisVisit(): ReactElement {
  const sending = useQueuedFiles()
  return (
    <Card
      title="This visit"
      aside={
        sending.length > 0 && (
          <span className={classes(ui.soft, ui.small, ui.numeric)}>
            {bytes(sending.reduce((sum, file) => sum + file.sentBytes, 0))} of {bytes(sending.reduce((sum, file) => sum + file.size, 0))}
          </span>
        )
      }
      flush
    >
      {sending.length === 0 ? (
        <Empty icon="up" title="No uploads yet" />
      ) : (
        <ul aria-label="Files">
          {sending.map((file) => (
            <FileRow key={file.key} queued={file} />
          ))}
        </ul>
      )}
    </Card>
  )
}

const MAX_UNFINISHED = 100

/** What an earlier visit began: the bytes that came are kept, the file has to be chosen again. */
function Unfinished({ projectId }: { projectId: string }): ReactElement | null {
  const sending = useQueuedFiles()
  const begun = useOp('uploads.list', { project_id: projectId, status: 'initiated', limit: MAX_UNFINISHED })
  const moving = useOp('uploads.list', { project_id: projectId, status: 'uploading', limit: MAX_UNFINISHED })
  const fail = useAct('uploads.fail', ['uploads', 'usage'])
  const known = new Set(sending.map(({ uploadId }) => uploadId))
  const left = [...(begun.data?.uploads ?? []), ...(moving.data?.uploads ?? [])].filter(
    (upload) => upload.file_count === 1 && !known.has(upload.id),
  )
  if (left.length === 0) return null
  return (
    <Card title="Unfinished uploads" flush>
      <ul aria-label="Unfinished uploads">
        {left.map((upload) => (
          <li key={upload.id} className={listStyles.entry}>
            <span className={listStyles.thumbnail}>
              <Icon name="image" />
            </span>
            <div className={classes(ui.grow, ui.flexColumn, ui.gap4)}>
              <b className={ui.ellipsis}>{upload.files[0]?.name ?? 'A file'}</b>
              <span className={classes(ui.soft, ui.small)}>
                {bytes(upload.total_bytes)}, begun {ago(upload.created_at)}. Choose the same file, and it goes on where it stopped.
              </span>
            </div>
            <label className={classes(buttonStyles.button, buttonStyles.small)}>
              Continue
              <input
                type="file"
                className={ui.screenReaderOnly}
                aria-label={`Continue ${upload.files[0]?.name ?? 'the file'}`}
                accept=".tif,.tiff,image/tiff"
                onChange={({ target }) => {
                  const [file] = target.files ?? []
                  const refusal = file ? continueUpload(file, upload) : null
                  if (refusal) toast(refusal, 'bad')
                  target.value = ''
                }}
              />
            </label>
            <Button
              size="s"
              variant="quiet"
              icon="x"
              label={`Give ${upload.files[0]?.name ?? 'the file'} up`}
              onClick={() => fail.mutate({ upload_id: upload.id, error_message: 'Given up by the person who uploaded' })}
            />
          </li>
        ))}
      </ul>
    </Card>
  )
}

/** Bytes that move are lost with the tab. */
function useLeaveWarning(): void {
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (isUploading()) event.preventDefault()
    }
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [])
}

function UploadNotes({ toItem }: { toItem: boolean }): ReactElement {
  const who = useWho()
  const usage = useOp('usage.current', {}, { enabled: who.isAdmin })
  return (
    <div className={classes(ui.flexColumn, ui.gap16)}>
      {who.isAdmin && (
        <Card title="Storage" aside={<span className={classes(ui.soft, ui.small)}>plan {usage.data?.plan_id}</span>}>
          <Loaded query={usage} rows={1}>
            {({ storage_bytes, storage_reserved_bytes, limits }) => (
              <>
                <b className={classes(ui.largePrice, ui.numeric)}>{bytes(storage_bytes)}</b>
                <p className={classes(ui.soft, ui.small)}>
                  of {bytes(limits.storage_bytes)}
                  {storage_reserved_bytes > 0 && `, and ${bytes(storage_reserved_bytes)} reserved for uploads`}
                </p>
                <div className={ui.marginTop8}>
                  <Bar
                    label="Storage used"
                    share={storage_bytes / limits.storage_bytes}
                    hatched={storage_reserved_bytes / limits.storage_bytes}
                  />
                </div>
              </>
            )}
          </Loaded>
        </Card>
      )}
      <Card title="What happens to a file">
        <ol className={styles.hints}>
          <li>
            <b>Check</b> of its content, never its name
          </li>
          <li>
            <b>COG</b> is written if it is not one
          </li>
          <li>
            <b>Bands, footprint, statistics</b> are read
          </li>
          <li>
            <b>A look</b> is chosen: natural colour, heights or classes
          </li>
        </ol>
      </Card>
      {toItem && <Note>The file becomes an asset of the item you came from.</Note>}
    </div>
  )
}

function FileRow({ queued }: { queued: QueuedFile }): ReactElement {
  const [isPlacing, setPlacing] = useState(false)
  const file = queued.session?.files[0]
  const converting = file?.state === 'converting'
  const share = converting ? (file.fraction ?? 0) : queued.size > 0 ? queued.sentBytes / queued.size : 0
  const itemId = queued.session?.item_ids[0] ?? file?.item_id
  const state = queued.state === 'done' ? 'ready' : queued.state === 'failed' ? 'refused' : converting ? 'converting' : queued.state
  return (
    <li className={listStyles.entry}>
      <span className={listStyles.thumbnail}>
        <Icon name={queued.state === 'failed' ? 'warn' : 'image'} />
      </span>
      <div className={classes(ui.grow, ui.flexColumn, ui.gap4)}>
        <span className={classes(ui.flexRow, ui.gap6)}>
          <b className={ui.ellipsis}>{queued.name}</b> <State of={state} />
        </span>
        {queued.state === 'failed' ? (
          <span className={classes(ui.danger, ui.small)} role="alert">
            {queued.error}
          </span>
        ) : (
          <span className={classes(ui.soft, ui.small)}>
            {converting
              ? `being rewritten as COG, ${percent(Math.round(share * 100))}`
              : queued.state === 'uploading'
                ? `${bytes(queued.sentBytes)} of ${bytes(queued.size)}`
                : queued.state === 'finishing'
                  ? 'checking the content'
                  : bytes(queued.size)}
          </span>
        )}
        {['uploading', 'finishing', 'queued', 'paused'].includes(queued.state) && <Bar label={`${queued.name}, sent`} share={share} />}
      </div>
      {queued.state === 'uploading' && (
        <Button size="s" onClick={() => pause(queued.key)}>
          Pause
        </Button>
      )}
      {queued.lacksPosition && (
        <Button size="s" icon="pin" onClick={() => setPlacing(true)}>
          Set position
        </Button>
      )}
      {isPlacing && <PlaceImage name={queued.name} fileKey={queued.key} onClose={() => setPlacing(false)} />}
      {(queued.state === 'paused' || (queued.state === 'failed' && queued.uploadId && !queued.lacksPosition)) && (
        <Button size="s" onClick={() => resume(queued.key)}>
          Continue
        </Button>
      )}
      {queued.state === 'done' && itemId && (
        <LinkButton size="s" icon="layers" to="/view/$item" params={{ item: itemId }}>
          Open
        </LinkButton>
      )}
      <Button size="s" variant="quiet" icon="x" label={`Remove ${queued.name}`} onClick={() => remove(queued.key)} />
    </li>
  )
}
