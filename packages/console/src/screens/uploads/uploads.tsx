/** Upload files into a project: drop or choose them, follow their progress, resume what was interrupted. */
import { useState, type ReactElement } from 'react'
import { useTitle } from '../../state/crumbs.ts'
import { useUrl } from '../../state/url.ts'
import { mayWrite, useProjects, useWho } from '../../state/who.ts'
import { Icon } from '../../ui/icons.tsx'
import { Button, LinkButton, Page } from '../../ui/kit.ts'
import { Empty } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { DropZone } from './drop-zone.tsx'
import { ImportStac } from './import-stac.tsx'
import { SessionFiles } from './session-files.tsx'
import { UnfinishedUploads } from './unfinished-uploads.tsx'
import { UploadNotes } from './upload-notes.tsx'
import { addFiles, addScene } from './upload-queue.ts'
import { useLeaveWarning } from './use-leave-warning.ts'
import { classes } from '../../ui/classes.ts'
import buttonStyles from '../../ui/button.module.css'
import ui from '../../ui/ui.module.css'

export function Uploads(): ReactElement {
  const who = useWho()
  const [url] = useUrl()
  const projects = useProjects()
  const [categorical, setCategorical] = useState(false)
  const [isScene, setScene] = useState(false)
  const [isImporting, setImporting] = useState(false)
  const writable = (projects.data?.projects ?? []).filter((project) => mayWrite(who, project))
  const project = writable.find(({ id }) => id === url['project']) ?? writable[0]
  useTitle(project ? { text: project.name, to: `/library/${project.id}` } : 'Library', 'Uploads')
  useLeaveWarning()
  const add = (files: FileList | null) => {
    if (!project) return void toast('Create a project first', 'bad')
    const place = url['item'] ? { itemId: url['item'] } : { collectionId: url['collection'] ?? null }
    const send = isScene && !url['item'] ? addScene : addFiles
    send([...(files ?? [])], { projectId: project.id, ...place, categorical })
  }
  if (projects.data && writable.length === 0) return <NoUploads hasProjects={projects.data.projects.length > 0} />
  return (
    <Page
      title="Uploads"
      about="Upload GeoTIFF and COG files. Uploads resume after a lost connection."
      actions={
        <>
          <Button icon="code" onClick={() => setImporting(true)}>
            Import STAC
          </Button>
          <FileButton isReady={project !== undefined} onFiles={add} />
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
            isScene={isScene}
            onScene={url['item'] ? null : setScene}
            onFiles={add}
          />
          <SessionFiles />
          {project && <UnfinishedUploads projectId={project.id} />}
        </div>
        <UploadNotes toItem={url['item'] !== undefined} />
      </div>
      {isImporting && project && (
        <ImportStac projectId={project.id} collectionId={url['collection'] ?? null} onClose={() => setImporting(false)} />
      )}
    </Page>
  )
}

/** Enabled once it is known which project the files go to. */
const FileButton = ({ isReady, onFiles }: { isReady: boolean; onFiles(files: FileList | null): void }): ReactElement => (
  <label className={classes(buttonStyles.button, buttonStyles.primary)}>
    <Icon name="up" />
    Choose files
    <input
      type="file"
      className={ui.screenReaderOnly}
      multiple
      accept=".tif,.tiff,image/tiff"
      disabled={!isReady}
      onChange={(event) => onFiles(event.target.files)}
    />
  </label>
)

function NoUploads({ hasProjects }: { hasProjects: boolean }): ReactElement {
  const who = useWho()
  return (
    <Page title="Uploads">
      <Empty
        icon="lock"
        tone="warn"
        title={hasProjects ? 'View-only access' : 'No project yet'}
        actions={
          !hasProjects && who.isAdmin ? (
            <LinkButton to="/welcome" variant="primary">
              First steps
            </LinkButton>
          ) : null
        }
      >
        {hasProjects ? 'To upload, ask a project admin to make you an editor.' : 'Files are uploaded to a project.'}
      </Empty>
    </Page>
  )
}
