import assert from 'node:assert/strict'
import { test } from 'node:test'
import { propagate, twoline2satrec } from 'satellite.js'
import { passesOver } from './passes.ts'
import { SATELLITES } from './satellites.ts'

const HOBART: [number, number] = [147.33, -42.88]
const window = { from: new Date('2026-04-01T00:00:00Z'), to: new Date('2026-05-01T00:00:00Z') }

// Goal: passes follow real orbits: realistic heights, speeds and revisit times, in constant light.
test('passes', async (t) => {
  await t.test('the elements describe sun-synchronous orbits of about 590 km', () => {
    for (const { elements, name } of SATELLITES) {
      for (const line of elements) {
        const sum = Array.from(line.slice(0, 68)).reduce(
          (total, sign) => total + (/\d/.test(sign) ? Number(sign) : sign === '-' ? 1 : 0),
          0,
        )
        assert.equal(Number(line[68]), sum % 10, `checksum of ${name}`)
      }
      const orbit = twoline2satrec(...elements)
      for (const at of ['2026-01-01T00:00:00Z', '2031-06-01T12:00:00Z']) {
        const { position } = propagate(orbit, new Date(at))!
        const heightKm = Math.hypot(position.x, position.y, position.z) - 6_371
        assert.ok(heightKm > 560 && heightKm < 630, `${name} is ${heightKm} km high at ${at}`)
      }
    }
  })

  await t.test('each pass is short, in daylight, in the morning, and within the angle', async () => {
    const passes = await passesOver(SATELLITES, { ...window, place: HOBART, maxOffNadirDeg: 30, limit: 500 })
    assert.ok(passes.length >= 10 && passes.length <= 60, `${passes.length} passes of three satellites in a month`)
    assert.deepEqual(
      passes,
      passes.toSorted((a, b) => a.start.localeCompare(b.start)),
    )
    for (const { start, end, offNadirDeg, sunElevationDeg } of passes) {
      const seconds = (Date.parse(end) - Date.parse(start)) / 1000
      assert.ok(seconds > 0 && seconds < 120, `${seconds} s`)
      assert.ok(offNadirDeg <= 30 && sunElevationDeg >= 15)
      const hour = (new Date(start).getUTCHours() + new Date(start).getUTCMinutes() / 60 + HOBART[0] / 15) % 24
      assert.ok(hour > 7.5 && hour < 12, `local solar time ${hour}`)
    }
  })

  await t.test('a narrower angle returns some of them, and a limit shortens the list', async () => {
    const wide = await passesOver(SATELLITES, { ...window, place: HOBART, maxOffNadirDeg: 30, limit: 500 })
    const narrow = await passesOver(SATELLITES, { ...window, place: HOBART, maxOffNadirDeg: 10, limit: 500 })
    assert.ok(narrow.length < wide.length)
    const times = new Set(wide.map(({ offNadirDeg, satellite }) => `${satellite} ${offNadirDeg}`))
    for (const { offNadirDeg, satellite } of narrow) assert.ok(times.has(`${satellite} ${offNadirDeg}`))
    assert.equal((await passesOver(SATELLITES, { ...window, place: HOBART, maxOffNadirDeg: 30, limit: 3 })).length, 3)
  })
})
