/** Applies a saved template to the order, or saves its requirements as one. */
import { useEffect, type ReactElement } from 'react'
import type { Output } from '../../api/contract.ts'
import { useAct, useOp } from '../../api/query.ts'
import { Button, Choice } from '../../ui/kit.ts'
import { toast } from '../../ui/toasts.tsx'
import { STANDARD_DEG } from './passes.tsx'
import type { TaskingDraft } from './use-tasking-draft.ts'
import { classes } from '../../ui/classes.ts'
import ui from '../../ui/ui.module.css'

type Template = Output<'orders.tasking.templates.list'>['templates'][number]

export function TemplateChoice({ draft }: { draft: TaskingDraft }): ReactElement {
  const templates = useOp('orders.tasking.templates.list', {})
  const save = useAct('orders.tasking.templates.save', ['orders.tasking.templates'])
  const { url, setUrl, sensor, values, setValues } = draft
  const list = templates.data?.templates ?? []
  const apply = (template: Template) =>
    setValues({ ...values, cloudCoverage: template.max_cloud_coverage, maxOffNadirAngle: template.max_nadir_angle })
  const wanted = url['template']
  useEffect(() => {
    const template = list.find(({ id }) => id === wanted)
    if (!template) return
    apply(template)
    setUrl({ template: null })
    // Once, when the address names a template.
    // oxlint-disable-next-line exhaustive-deps
  }, [wanted, templates.data])
  const saveTemplate = () =>
    save.mutate(
      {
        name: url['name'] || `${sensor.title}, ${Number(values['cloudCoverage'] ?? 15)}% cloud`,
        sensor: sensor.id,
        resolution: `${sensor.resolution} m`,
        capture_frequency: 'once',
        datum: 'WGS84',
        file_format: 'COG',
        max_cloud_coverage: Number(values['cloudCoverage'] ?? 15),
        max_nadir_angle: Number(values['maxOffNadirAngle'] ?? STANDARD_DEG),
      },
      { onSuccess: ({ name }) => void toast(`Saved template “${name}”`), onError: (error) => void toast(error.message, 'bad') },
    )
  return (
    <span className={classes(ui.flexRow, ui.gap8)}>
      {list.length > 0 && (
        <Choice
          label="Template"
          hideLabel
          value=""
          onChange={(event) => {
            const template = list.find(({ id }) => id === event.target.value)
            if (template) apply(template)
          }}
          options={[{ value: '', text: 'Use a template' }, ...list.map(({ id, name }) => ({ value: id, text: name }))]}
        />
      )}
      <Button size="s" busy={save.isPending} onClick={saveTemplate}>
        Save as template
      </Button>
    </span>
  )
}
