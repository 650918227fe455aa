/** Open data becomes an item by reference: no copy, no storage, at once on the map. */
import { Menu } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import { call } from '../../api/client.ts'
import { touch } from '../../api/query.ts'
import { mayWrite, useProjects, useWho } from '../../state/who.ts'
import { Button } from '../../ui/kit.ts'
import { toast } from '../../ui/toasts.tsx'
import type { Scene } from '../../state/scene.ts'
import { classes } from '../../ui/classes.ts'
import ui from '../../ui/ui.module.css'

export function ImportScene({ scene }: { scene: Scene }): ReactElement {
  const who = useWho()
  const projects = useProjects()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [busy, setBusy] = useState(false)
  const writable = (projects.data?.projects ?? []).filter((project) => mayWrite(who, project))
  const add = async (projectId: string) => {
    setBusy(true)
    try {
      const feature = await call('catalog.item.get', { host_name: scene.host, id: scene.id })
      const { errors } = await call('items.import_stac', {
        project_id: projectId,
        features: { type: 'FeatureCollection', features: [feature] },
      })
      if (errors[0]) throw new Error(errors[0].message)
      await touch(client, ['items', 'projects', 'collections'])
      toast('Added to your library')
      await navigate({ to: '/view/$item', params: { item: scene.id } })
    } catch (error) {
      toast(error instanceof Error ? error.message : 'It could not be added', 'bad')
    } finally {
      setBusy(false)
    }
  }
  if (writable.length === 0)
    return <p className={classes(ui.soft, ui.small)}>You can look at it here. To keep it, ask for a project in which you are an editor.</p>
  if (writable.length === 1)
    return (
      <Button variant="primary" wide icon="plus" busy={busy} onClick={() => void add(writable[0]!.id)}>
        Add to {writable[0]!.name}
      </Button>
    )
  return (
    <Menu transitionProps={{ duration: 120 }} width="target">
      <Menu.Target>
        <Button variant="primary" wide icon="plus" busy={busy}>
          Add to a project
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {writable.map(({ id, name }) => (
          <Menu.Item key={id} onClick={() => void add(id)}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
