/** What the order is likely to cost, and the button that sends it to the vendor. */
import { useNavigate } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import type { Output } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { LicenceRows, SpendRefusal, useLicences, useSpend, useSpendKey } from '../../parts/orders/spend.tsx'
import { mayWrite, useProjects, useWho } from '../../state/who.ts'
import { CallPreview } from '../../ui/call-preview.tsx'
import { area as areaText, audOfCredits, count, plural } from '../../ui/format.ts'
import { Button, Card, Choice, Note } from '../../ui/kit.ts'
import { FormProblem, Skeleton } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { collectionOf, type TaskingDraft } from './use-tasking-draft.ts'
import { classes } from '../../ui/classes.ts'
import totalStyles from '../../parts/orders/total.module.css'
import fieldStyles from '../../ui/field.module.css'
import ui from '../../ui/ui.module.css'

const needsStudy = ({ studyRequired }: { studyRequired: boolean }) => studyRequired

export function OrderCard({ draft }: { draft: TaskingDraft }): ReactElement {
  const { url, setUrl, product, areas, params, values, featureCollection } = draft
  const who = useWho()
  const navigate = useNavigate()
  const projects = useProjects()
  const writable = (projects.data?.projects ?? []).filter((project) => mayWrite(who, project))
  const projectId = writable.find(({ id }) => id === url['project'])?.id ?? writable[0]?.id ?? ''
  const requirements = { dataProduct: product.name, params: { ...params } }
  const groups = areas.map((area) => ({ ...requirements, featureCollection: collectionOf([area]) }))
  const enabled = areas.length > 0
  const estimate = useOp('orders.tasking.estimate', { groups }, { enabled, keep: true })
  const study = useOp('orders.tasking.feasibility_check', { ...requirements, featureCollection }, { enabled, keep: true })
  const { open } = useLicences([product.name])
  const input = { projectId, groups, ...(url['name'] ? { displayName: url['name'] } : {}) }
  const spend = useSpend('orders.tasking.place', input, (order) => {
    toast('Request sent to the vendor')
    void navigate({ to: '/tasking/$order', params: { order: order.id } })
  })
  const missing =
    areas.length === 0
      ? 'Add an area to continue'
      : projectId === ''
        ? 'Choose a project'
        : open.length > 0
          ? 'Accept the licence to continue'
          : estimate.isPending || estimate.isPlaceholderData
            ? 'Calculating price…'
            : estimate.isError || estimate.data.errors.length > 0
              ? 'Adjust the area to continue'
              : null
  const isReady = missing === null && values === params && !spend.busy
  useSpendKey(isReady, spend.run)
  return (
    <div className={classes(ui.flexColumn, ui.gap16, ui.sticky)}>
      <Card title="Estimated cost">
        {enabled && !estimate.data && !estimate.isError && <Skeleton rows={1} />}
        {enabled && estimate.data && (
          <>
            {estimate.data.groups.length > 0 && <Total estimate={estimate.data} />}
            {estimate.data.errors.map(({ index, reason }) => (
              <Note key={index} tone="warn" icon="warn">
                Area {index + 1}: {reason}
              </Note>
            ))}
          </>
        )}
        {enabled && <FormProblem error={estimate.error} />}
        {study.data && enabled && (
          <p className={classes(ui.soft, ui.small, ui.marginTop8)}>
            {study.data.studyRequired
              ? `The vendor runs a feasibility study for ${plural(study.data.features.filter(needsStudy).length, 'area')}.`
              : 'No feasibility study needed. The vendor sends a quotation.'}
          </p>
        )}
        {!enabled && <p className={ui.soft}>Add an area to see an estimate.</p>}
        <Choice
          className={ui.marginTop16}
          label="Project"
          value={projectId}
          onChange={(event) => setUrl({ project: event.target.value })}
          options={writable.map(({ id, name }) => ({ value: id, text: name }))}
        />
        <LicenceRows products={[product.name]} />
        <div className={ui.marginTop12}>
          <SpendRefusal spend={spend} />
        </div>
        {!projects.isPending && writable.length === 0 && (
          <Note tone="warn" icon="lock">
            Only editors can order. Ask a project admin to make you an editor.
          </Note>
        )}
        <Button variant="primary" size="l" wide className={ui.marginTop12} busy={spend.busy} disabled={!isReady} onClick={spend.run}>
          {missing ?? 'Send request'}
        </Button>
        <p className={classes(fieldStyles.help, ui.center)}>No credits are reserved until you accept an option or a quotation.</p>
      </Card>
      <CallPreview operation="orders.tasking.place" input={input} />
    </div>
  )
}

/** Of the areas that have a price. */
const Total = ({ estimate: { groups, totalCredits } }: { estimate: Output<'orders.tasking.estimate'> }): ReactElement => (
  <>
    <div className={classes(totalStyles.total, totalStyles.first)}>
      <span>{areaText(groups.reduce((sum, { aoi_km2 }) => sum + aoi_km2, 0) * 1e6)}</span>
      <b className={ui.numeric}>{audOfCredits(totalCredits)}</b>
    </div>
    <div className={classes(ui.alignEnd, ui.soft, ui.small, ui.numeric)}>About {count(totalCredits)} credits</div>
  </>
)
