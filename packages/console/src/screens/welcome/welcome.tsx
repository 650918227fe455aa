/** An empty organization is led to its first picture. */
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState, type ReactElement, type ReactNode } from 'react'
import { call } from '../../api/client.ts'
import { touch } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useFirstSteps, type FirstStep } from '../../state/first-steps.ts'
import { mayWrite, useProjects, useWho } from '../../state/who.ts'
import { Badge, Button, Card, LinkButton, Page } from '../../ui/kit.ts'
import { Icon } from '../../ui/icons.tsx'
import { FormProblem, Skeleton } from '../../ui/states.tsx'
import { addSample } from './sample.ts'
import { useRealImagery } from '../../parts/places/open-sources.ts'
import { PlaceForm } from '../../parts/places/place-form.tsx'
import { NewProject } from '../../parts/project-dialogs.tsx'
import { classes } from '../../ui/classes.ts'
import styles from './welcome.module.css'
import codeStyles from '../../ui/code.module.css'
import ui from '../../ui/ui.module.css'

interface Step {
  title: string
  about: string
  action: ReactNode
}

export function Welcome(): ReactElement {
  const who = useWho()
  const projects = useProjects()
  const { done, steps, isDismissed, setDismissed } = useFirstSteps(true)
  const hasRealImagery = useRealImagery()
  const [dialog, setDialog] = useState(false)
  useTitle('Welcome')
  if (!projects.data || !done) return <Skeleton />
  const list = projects.data.projects
  const first = list.find((project) => mayWrite(who, project))
  const texts: Readonly<Record<FirstStep, Step>> = {
    organization: { title: 'Create an organization', about: who.organizationName, action: null },
    project: {
      title: 'Create a project',
      about: list[0] ? `${list[0].name} holds your items, members and storage` : 'It holds your items, members and storage',
      action: <Button onClick={() => setDialog(true)}>Create</Button>,
    },
    imagery: {
      title: 'Get imagery onto the map',
      about: 'Search open data over your area. Free, takes about a minute',
      action: <LinkButton to="/explore">Search</LinkButton>,
    },
    upload: {
      title: 'Or bring your own',
      about: 'GeoTIFF or COG, up to 10 GiB per file',
      action: <LinkButton to="/uploads">Upload</LinkButton>,
    },
    invitation: {
      title: 'Invite someone',
      about: 'They join through a link in the invitation',
      action: <LinkButton to="/team">Invite</LinkButton>,
    },
    key: {
      title: 'Connect QGIS or code',
      about: 'Create an API key and copy a snippet',
      action: <LinkButton to="/develop/keys">Create a key</LinkButton>,
    },
  }
  const isComplete = done.size === steps.length
  const current = steps.find((step) => !done.has(step))
  return (
    <Page
      title={done.size >= 3 ? `Welcome back, ${who.name}` : 'Your organization is ready'}
      about={`${done.size} of ${steps.length} steps done. You can skip any step. Everything is free until you place an order.`}
      actions={
        !isComplete && (
          <Button onClick={() => setDismissed(!isDismissed)}>{isDismissed ? 'Show checklist on every screen' : 'Dismiss checklist'}</Button>
        )
      }
    >
      <div className={classes(ui.grid, ui.twoToOne)}>
        <Card flush>
          <ol>
            {steps.map((step, index) => (
              <li key={step} className={classes(styles.step, done.has(step) ? styles.done : step === current ? styles.current : '')}>
                <span className={styles.stepNumber}>{done.has(step) ? <Icon name="check" /> : index + 1}</span>
                <div className={ui.grow}>
                  <b>{texts[step].title}</b>
                  <div className={classes(ui.soft, ui.small)}>{texts[step].about}</div>
                </div>
                {done.has(step) ? <Badge tone="ok">Done</Badge> : texts[step].action}
              </li>
            ))}
          </ol>
        </Card>
        <div className={classes(ui.flexColumn, ui.gap16)}>
          {hasRealImagery && (
            <Card title="Real imagery">
              <PlaceForm />
              <p className={classes(ui.soft, ui.small, ui.marginTop8)}>
                <a href="/docs/guides/real-imagery">Real imagery in five minutes</a> does the same with code.
              </p>
            </Card>
          )}
          <Sample projectId={first?.id ?? null} onNeedProject={() => setDialog(true)} />
          <Card title="Prefer the terminal?">
            <pre className={codeStyles.code} tabIndex={0}>{`TOKEN=svc_…
curl -s ${location.origin}/v1/op/projects.list \\
  -H "Authorization: Bearer $TOKEN" -d '{}'`}</pre>
          </Card>
        </div>
      </div>
      {dialog && <NewProject onClose={() => setDialog(false)} />}
    </Page>
  )
}

/** A scene of the open data, taken into the project by reference: it uses none of its storage. */
function Sample({ projectId, onNeedProject }: { projectId: string | null; onNeedProject(): void }): ReactElement {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const add = () => {
    if (!projectId) return onNeedProject()
    setBusy(true)
    addSample(call, projectId)
      .then(async (id) => {
        await touch(client, ['items', 'projects'])
        await navigate({ to: '/view/$item', params: { item: id } })
      })
      .catch((cause: unknown) => setError(cause))
      .finally(() => setBusy(false))
  }
  return (
    <Card title="Try sample data">
      <p className={ui.soft}>
        A sample scene with bands and an index, from the open data of this service. It is removed with one click and uses none of your
        storage.
      </p>
      <div className={ui.marginTop12}>
        <Button busy={busy} onClick={add} icon="image">
          {busy ? 'Adding sample…' : 'Add sample'}
        </Button>
      </div>
      <FormProblem error={error} />
    </Card>
  )
}
