/** Saves the current style as a profile of the item. */
import { useState, type ReactElement } from 'react'
import { useAct } from '../../api/query.ts'
import { profileOf, type Style } from '../../state/style.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Button, Check, Field } from '../../ui/kit.ts'
import { FormProblem } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { classes } from '../../ui/classes.ts'
import ui from '../../ui/ui.module.css'

interface SaveProfileParts {
  itemId: string
  assetKey: string | null
  style: Style
}

export function SaveProfile(parts: SaveProfileParts): ReactElement {
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button variant="primary" onClick={() => setOpen(true)}>
        Save as profile
      </Button>
      {open && <ProfileDialog {...parts} onClose={() => setOpen(false)} />}
    </>
  )
}

function ProfileDialog({ itemId, assetKey, style, onClose }: SaveProfileParts & { onClose(): void }): ReactElement {
  const [name, setName] = useState('')
  const [isDefault, setDefault] = useState(false)
  const save = useAct('visualization.profile.create', ['visualization', 'items.tile'])
  const send = () =>
    save.mutate(
      { item_id: itemId, is_default: isDefault, asset_key: assetKey, ...profileOf(style, name) },
      {
        onSuccess: () => {
          toast(`Saved profile “${name}”`)
          onClose()
        },
      },
    )
  return (
    <Dialog title="Save as profile" onClose={onClose}>
      <form
        className={classes(ui.flexColumn, ui.gap12)}
        onSubmit={(event) => {
          event.preventDefault()
          send()
        }}
      >
        <Field label="Name" required maxLength={100} data-autofocus value={name} onChange={(event) => setName(event.target.value)} />
        <Check checked={isDefault} onChange={setDefault}>
          Use as the default style of this item
        </Check>
        <FormProblem error={save.error} />
        <Button type="submit" variant="primary" busy={save.isPending}>
          Save profile
        </Button>
      </form>
    </Dialog>
  )
}
