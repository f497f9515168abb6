"""Grains in NumPy: an integration that is slow, plain and apart from sim's code, for grains.py.

Spheres are parts of rigid bodies, of one sphere or several. Heun's midpoint rule advances positions, velocities,
angular momenta, orientations, temperatures and the springs of contacts. Positions are never folded into the box: images
are found by rounding. Laws are those of docs/scenario.md, with the damping of e = exp(-pi z/sqrt(1 - z^2)) and Hertz's
by Antypov and Elliott (EPL 94 (2011) 50004).
"""

import numpy as np


def cross(a, b):
    return np.stack([a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1], a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2],
                     a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]], axis=1)


def rotation(q):
    """Matrices [n][3][3] of quaternions (w, x, y, z) [n][4]."""
    w, x, y, z = (q / np.linalg.norm(q, axis=1)[:, None]).T
    return np.stack([np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], 1),
                     np.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], 1),
                     np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], 1)], 1)


def capped(vector, limit):
    """Vectors [n][3] shortened to lengths of at most `limit` [n]."""
    size = np.sqrt((vector * vector).sum(1))
    return vector * np.where(size > limit, limit / np.where(size > 0, size, 1), 1.0)[:, None]


def turned(spring, n):
    """Springs [n][3] turned into the planes across the normals n, without a change of length."""
    flat = spring - (spring * n).sum(1)[:, None] * n
    size, old = np.sqrt((flat * flat).sum(1)), np.sqrt((spring * spring).sum(1))
    return flat * np.where(size > 0, old / np.where(size > 0, size, 1), 0.0)[:, None]


class World:
    """A scenario (dictionary) in motion.

    keys: bodies (list of mass, inertia [3][3], x, v, w, q, spheres [[x, y, z, r]], T, id), box (size, origin, periodic),
    contact (see law), gravity, shear, hill (omega, kappa, vertical), attraction (G, images), heat (conductivity,
    capacity), walls (list of point, normal, T, servo), merge (when, speed), dt of the engine.
    """

    def __init__(self, s):
        self.s, self.t = s, 0.0
        self.size = np.array(s["box"]["size"], float)
        self.periodic = np.array(s["box"]["periodic"], bool)
        self.middle = np.array(s["box"]["origin"], float) + 0.5 * self.size
        self.shear = s.get("shear", 0.0)
        hill = s.get("hill")
        if hill:
            self.shear = -2 * (hill["omega"] - hill["kappa"] ** 2 / (4 * hill["omega"]))
        b = s["bodies"]
        self.mass = np.array([k["mass"] for k in b])
        self.inertia = np.array([k["inertia"] for k in b])
        self.x = np.array([k["x"] for k in b], float)
        self.v = np.array([k["v"] for k in b], float)
        self.across, self.along = (0, 1) if hill else (1, 0)  # of a shear: images across are displaced along
        self.v[:, self.along] += self.shear * (self.x[:, self.across] - self.middle[self.across])
        self.q = np.array([k["q"] for k in b], float)
        self.T = np.array([k["T"] for k in b], float)
        self.id = [k["id"] for k in b]
        turn = rotation(self.q)
        self.L = np.einsum("bij,bjk,blk,bl->bi", turn, self.inertia, turn, np.array([k["w"] for k in b], float))
        self.of = np.array([k for k, body in enumerate(b) for _ in body["spheres"]])
        self.lever = np.array([p[:3] for body in b for p in body["spheres"]], float)
        self.r = np.array([p[3] for body in b for p in body["spheres"]], float)
        self.wall = s.get("walls", [])
        self.shift = np.zeros(len(self.wall))
        self.speed = np.zeros(len(self.wall))
        self.plain = all(len(body["spheres"]) == 1 for body in b)  # no orientation matters
        self.mergers = 0
        self.contact_steps = 0
        self.list_pairs()
        self.touching = set()

    def list_pairs(self):
        n = len(self.r)
        i, j = np.triu_indices(n, 1)
        apart = self.of[i] != self.of[j]
        self.i, self.j = i[apart], j[apart]
        self.pairs = len(self.i)
        self.all_pairs = np.triu_indices(len(self.x), 1)
        self.both = self.r[self.i] + self.r[self.j]
        self.reduced = np.concatenate([self.r[self.i] * self.r[self.j] / self.both, np.repeat(self.r, len(self.wall))])
        self.wi = np.repeat(np.arange(n), len(self.wall))
        self.wb = np.tile(np.arange(len(self.wall)), n)
        self.spring = np.zeros((self.pairs + len(self.wi), 7))
        self.bond = np.zeros(self.pairs + len(self.wi), bool)

    def image(self, d, t):
        """Vectors to the nearest image, and what the image adds to the relative velocity along the shear."""
        jump = np.zeros(len(d))
        d = d.copy()
        if self.periodic[self.across]:
            n = np.rint(d[:, self.across] / self.size[self.across])
            d[:, self.across] -= n * self.size[self.across]
            jump = n * self.shear * self.size[self.across]
            d[:, self.along] -= jump * t
        for c in (self.along, 2):
            if self.periodic[c]:
                d[:, c] -= np.rint(d[:, c] / self.size[c]) * self.size[c]
        return d, jump

    # ---- forces ----

    def evaluate(self, x, v, q, L, T, spring, t, shift, reset):
        """Rates of all. reset: contacts that have ended forget their springs."""
        s, k = self.s, self.s["contact"]
        if self.plain:
            w, arm, inverse, at, speed = L / self.inertia[:, 0, 0, None], self.lever, None, x, v
        else:
            turn = rotation(q)
            inverse = np.linalg.inv(np.einsum("bij,bjk,blk->bil", turn, self.inertia, turn))
            w = np.einsum("bij,bj->bi", inverse, L)
            arm = np.einsum("sij,sj->si", turn[self.of], self.lever)
            at, speed = x[self.of] + arm, v[self.of] + cross(w[self.of], arm)
        d, jump = self.image(at[self.i] - at[self.j], t)
        distance = np.sqrt((d * d).sum(1))
        overlap = self.both - distance
        if self.wall:
            normal = np.array([b["normal"] for b in self.wall])[self.wb]
            point = np.array([b["point"] for b in self.wall])[self.wb] + shift[self.wb, None] * normal
            height = ((at[self.wi] - point) * normal).sum(1)
            overlap = np.concatenate([overlap, self.r[self.wi] - height])
        rate = {"a": np.zeros_like(v), "torque": np.zeros_like(L), "T": np.zeros_like(T),
                "spring": np.zeros_like(spring), "w": w, "wall": np.zeros((len(self.wall), 3))}
        cohesion = k.get("cohesion")
        near = overlap > 0
        if cohesion and cohesion["model"] == "square_well":
            near = overlap > -cohesion["range"]
        elif cohesion and cohesion["model"] == "liquid_bridge":
            longest = (1 + 0.5 * cohesion["contact_angle"]) * cohesion["volume"] ** (1 / 3)
            if reset:
                self.bond = (self.bond & (overlap > -longest)) | (overlap > 0)
            near = self.bond & (overlap > -longest) | (overlap > 0)
        if reset:
            spring[overlap <= 0] = 0
        if near.any():
            self.contact_steps += reset
            self.contacts(np.flatnonzero(near), overlap, d, distance, jump, arm, speed, w, T, spring, inverse, reset, rate)
        a = rate["a"]
        a /= self.mass[:, None]
        a += np.array(s.get("gravity", (0, 0, 0)))
        hill = s.get("hill")
        if hill:
            o, kappa2 = hill["omega"], hill["kappa"] ** 2
            dx, dz = x[:, 0] - self.middle[0], x[:, 2] - self.middle[2]
            a[:, 0] += 2 * o * v[:, 1] + (4 * o * o - kappa2) * dx
            a[:, 1] -= 2 * o * v[:, 0]
            a[:, 2] -= hill["vertical"] ** 2 * dz
        if s.get("attraction"):
            a += self.attraction(x, t)
        return rate

    def attraction(self, x, t):
        G, images = self.s["attraction"]["G"], self.s["attraction"]["images"]
        i, j = self.all_pairs
        nearest, _ = self.image(x[i] - x[j], t)
        a = np.zeros_like(x)
        span = range(-images, images + 1) if self.periodic[0] else [0]
        for nx in span:
            for ny in span:
                d = nearest + np.array([nx * self.size[0], ny * self.size[1], 0.0])
                if nx:  # the row of images above or below is displaced; its nearest image along y is the middle one
                    d[:, 1] = nearest[:, 1] + nx * self.shear * self.size[0] * t
                    d[:, 1] -= self.size[1] * np.rint(d[:, 1] / self.size[1])
                    d[:, 1] += ny * self.size[1]
                f = -G * d / ((d * d).sum(1) ** 1.5)[:, None]
                np.add.at(a, i, self.mass[j][:, None] * f)
                np.add.at(a, j, -self.mass[i][:, None] * f)
        return a

    def mobility(self, i, n, arm, inverse):
        """Inverse masses of the bodies of spheres i along n at their centres."""
        if self.plain:
            return 1 / self.mass[i]
        lever = cross(arm[i], n)
        return 1 / self.mass[self.of[i]] + np.einsum("ci,cij,cj->c", lever, inverse[self.of[i]], lever)

    def contacts(self, near, overlap, d, distance, jump, arm, speed, w, T, spring, inverse, reset, rate):
        k, s = self.s["contact"], self.s
        grain = near < self.pairs
        p, b = near[grain], near[~grain] - self.pairs
        i = np.concatenate([self.i[p], self.wi[b]])
        j = np.concatenate([self.j[p], -np.ones(len(b), int)])
        isgrain = j >= 0
        n = d[p] / distance[p][:, None]
        vj, wj = speed[self.j[p]].copy(), w[self.of[self.j[p]]]
        vj[:, self.along] += jump[p]
        li = distance[p] * self.r[self.i[p]] / self.both[p]
        lj = distance[p] - li
        if len(b):
            normal = np.array([q["normal"] for q in self.wall])
            n = np.concatenate([n, normal[self.wb[b]]])
            vj = np.concatenate([vj, self.speed[self.wb[b], None] * normal[self.wb[b]]])
            wj = np.concatenate([wj, np.zeros((len(b), 3))])
            li = np.concatenate([li, self.r[self.wi[b]] - overlap[near[~grain]]])
            lj = np.concatenate([lj, np.zeros(len(b))])
        R, depth = self.reduced[near], np.maximum(overlap[near], 0)
        gap = np.maximum(-overlap[near], 0)
        touch = overlap[near] > 0
        m = 1 / (self.mobility(i, n, arm, inverse) + np.where(isgrain, self.mobility(j, n, arm, inverse), 0))
        relative = speed[i] - vj
        wi = w[self.of[i]]
        parting = (relative * n).sum(1)
        z = 0.0
        if k.get("restitution", 1) < 1:
            z = -np.log(k["restitution"]) / np.hypot(np.pi, np.log(k["restitution"]))
        a = np.sqrt(R * depth)
        if k["law"] == "hertz":
            E, G = k["young"] / (2 * (1 - k["poisson"] ** 2)), k["young"] / (4 * (1 + k["poisson"]) * (2 - k["poisson"]))
            push = 4 / 3 * E * a * depth
            g = 2 * np.sqrt(5 / 6) * z * np.sqrt(2 * E * a * m)
            kt, gt = 8 * G * a, 2 * np.sqrt(5 / 6) * z * np.sqrt(8 * G * a * m)
            weight = np.sqrt(a)  # springs are stored as their stretch times the root of a: see docs, "conserving"
            kt_stored = 8 * G * np.ones(len(a))
        else:
            push = k["stiffness"] * depth
            g = np.where(touch, 2 * z * np.sqrt(k["stiffness"] * m), 0)
            kt, gt = 2 / 7 * k["stiffness"] * np.ones(len(a)), 2 / 7 * g
            weight, kt_stored = np.ones(len(a)), kt
        normal_force = push - np.where(touch, g * parting, 0)
        if k.get("limit_damping"):
            normal_force = np.maximum(normal_force, 0)
        load = np.maximum(normal_force, 0)
        c = k.get("cohesion")
        if c and c["model"] == "dmt":
            normal_force = normal_force - np.where(touch, 4 * np.pi * c["surface_energy"] * R, 0)
        elif c and c["model"] == "liquid_bridge":
            q = gap * np.sqrt(2 * R / c["volume"])
            normal_force = normal_force - 4 * np.pi * R * c["surface_tension"] * np.cos(c["contact_angle"]) / (1 + 1.05 * q + 2.5 * q * q)
        elif c and c["model"] == "square_well":
            edge = c["range"] / 4
            u = np.clip(1 - (c["range"] - gap) / edge, 0, 1)
            normal_force = normal_force - c["energy"] / edge * 6 * u * (1 - u)
        force, couple = normal_force[:, None] * n, np.zeros_like(n)
        rates = np.zeros((len(i), 7))
        if k.get("friction"):
            slip = relative - parting[:, None] * n - cross(li[:, None] * wi + lj[:, None] * wj, n)
            own = turned(spring[near, :3], n)
            stiff = kt_stored * weight
            limit = np.where(touch, k["friction"] * load, 0)
            own = np.where((stiff > 0)[:, None], capped(stiff[:, None] * own, limit) / np.where(stiff > 0, stiff, 1)[:, None], own)
            force += np.where(touch[:, None], capped(-stiff[:, None] * own - gt[:, None] * slip, limit), 0)
            rates[:, :3] = np.where(touch[:, None], weight[:, None] * slip, 0)
            if reset:
                spring[near, :3] = own
        rolling = k.get("rolling")
        if rolling:
            turning = wi - wj
            twist = (turning * n).sum(1)
            roll = turning - twist[:, None] * n
            limit = np.where(touch, rolling["coefficient"] * R * load, 0)
            if rolling["model"] == "viscous":
                couple -= (rolling["coefficient"] * R * R * load)[:, None] * np.where(touch[:, None], roll, 0)
            else:
                if rolling["model"] == "sds":
                    stored, wt, damp = rolling["stiffness"] * R * R, np.ones(len(R)), rolling["damping"] * R * R
                else:
                    stored, wt, damp = kt_stored * R * R, weight, gt * R * R
                own = turned(spring[near, 3:6], n)
                stiff = stored * wt
                own = np.where((stiff > 0)[:, None], capped(stiff[:, None] * own, limit) / np.where(stiff > 0, stiff, 1)[:, None], own)
                couple += np.where(touch[:, None], capped(-stiff[:, None] * own - damp[:, None] * roll, limit), 0)
                rates[:, 3:6] = np.where(touch[:, None], wt[:, None] * roll, 0)
                if reset:
                    spring[near, 3:6] = own
        rate["spring"][near] = rates
        np.add.at(rate["a"], self.of[i], force)
        np.add.at(rate["torque"], self.of[i], cross(arm[i] - li[:, None] * n, force) + couple)
        h = np.flatnonzero(isgrain)
        np.add.at(rate["a"], self.of[j[h]], -force[h])
        np.add.at(rate["torque"], self.of[j[h]], cross(arm[j[h]] + lj[h, None] * n[h], -force[h]) - couple[h])
        if len(b):
            np.add.at(rate["wall"], self.wb[b], -force[~isgrain])
        heat = s.get("heat")
        if heat:
            flow = 2 * heat["conductivity"] * a
            other = T[self.of[j]].copy()
            for q, wall in enumerate(self.wall):
                mine = np.concatenate([np.zeros(len(p), bool), self.wb[b] == q])
                other[mine] = wall["T"] if wall.get("T") is not None else np.nan
            flow = np.where(np.isnan(other), 0, flow * (np.nan_to_num(other) - T[self.of[i]]))
            np.add.at(rate["T"], self.of[i], flow)
            np.add.at(rate["T"], self.of[j[h]], -flow[h])
            rate["T_wall"] = flow[~isgrain].sum()

    # ---- steps ----

    def servo(self):
        """Speeds of the planes that hold a force, from the force on them."""
        if not any(wall.get("servo") for wall in self.wall):
            return
        r = self.evaluate(self.x, self.v, self.q, self.L, self.T, self.spring, self.t, self.shift, True)
        for b, wall in enumerate(self.wall):
            if wall.get("servo"):
                pressed = -(r["wall"][b] * np.array(wall["normal"])).sum()
                self.speed[b] = wall["servo"]["speed"] * min(1, max(-1, 1 - pressed / wall["servo"]["force"]))

    def step(self, h):
        def spun(w, q):  # rates of the quaternions, from the angular velocities
            return 0.5 * np.concatenate([-(w * q[:, 1:]).sum(1)[:, None], q[:, :1] * w + cross(w, q[:, 1:])], axis=1)

        old = self.x, self.v, self.q, self.L, self.T, self.spring, self.shift
        r = self.evaluate(*old[:6], self.t, self.shift, True)
        capacity = self.mass * self.s["heat"]["capacity"] if self.s.get("heat") else np.ones(len(self.mass))
        x, v, q, L, T, spring, shift = old
        mid = (x + 0.5 * h * v, v + 0.5 * h * r["a"], q if self.plain else q + 0.5 * h * spun(r["w"], q), L + 0.5 * h * r["torque"],
               T + 0.5 * h * r["T"] / capacity, spring + 0.5 * h * r["spring"])
        r = self.evaluate(*mid, self.t + 0.5 * h, shift + 0.5 * h * self.speed, False)
        self.x, self.v = x + h * mid[1], v + h * r["a"]
        if not self.plain:
            self.q = q + h * spun(r["w"], mid[2])
            self.q /= np.linalg.norm(self.q, axis=1)[:, None]
        self.L, self.T = L + h * r["torque"], T + h * r["T"] / capacity
        self.spring = spring + h * r["spring"]
        self.shift = shift + h * self.speed
        self.t += h

    # ---- mergers: bodies of one sphere ----

    def merge(self):
        d, jump = self.image(self.x[self.i] - self.x[self.j], self.t)
        touching = np.flatnonzero((d * d).sum(1) < (self.r[self.i] + self.r[self.j]) ** 2)
        now = {(self.id[self.i[p]], self.id[self.j[p]]): p for p in touching}
        fresh = [p for key, p in now.items() if key not in self.touching]
        self.touching = set(now)

        rule = self.s["merge"]

        def slow(p):
            if rule["when"] == "touch":
                return True
            u = self.v[self.i[p]] - self.v[self.j[p]]
            u[self.along] -= jump[p]
            most = rule.get("speed")
            if rule["when"] == "bound":
                both = self.r[self.i[p]] + self.r[self.j[p]]
                most = np.sqrt(2 * self.s["attraction"]["G"] * (self.mass[self.i[p]] + self.mass[self.j[p]]) / both)
            return np.linalg.norm(u) < most

        chosen = [p for p in fresh if slow(p)]
        while chosen:
            new = self.join(chosen, d, jump)
            d, jump = self.image(self.x[self.i] - self.x[self.j], self.t)
            depth = self.r[self.i] + self.r[self.j] - np.sqrt((d * d).sum(1))
            chosen = [p for p in np.flatnonzero(depth > 0) if (self.id[self.i[p]] in new or self.id[self.j[p]] in new)
                      and (slow(p) or depth[p] > 0.05 * min(self.r[self.i[p]], self.r[self.j[p]]))]
            self.touching = {(self.id[self.i[p]], self.id[self.j[p]]) for p in np.flatnonzero(depth > 0)}

    def join(self, chosen, d, jump):
        """Makes one grain of each component of the graph of touches; returns the ids of the new grains."""
        groups = [{k} for k in range(len(self.r))]
        for p in chosen:
            a = next(g for g in groups if self.i[p] in g)
            b = next(g for g in groups if self.j[p] in g)
            if a is not b:
                groups.remove(b)
                a |= b
        w = self.L / (0.4 * self.mass * self.r**2)[:, None]
        gone, new = [], set()
        for group in groups:
            if len(group) == 1:
                continue
            members = sorted(group)
            at, u = {members[0]: (np.zeros(3), np.zeros(3))}, None
            while len(at) < len(members):
                for p in chosen:
                    for one, other, sign in ((self.i[p], self.j[p], -1), (self.j[p], self.i[p], 1)):
                        if one in at and other not in at:
                            at[other] = (at[one][0] + sign * d[p], at[one][1] + -sign * jump[p] * np.eye(3)[self.along])
            m = self.mass[members]
            x = np.array([at[k][0] for k in members])
            v = self.v[members] + np.array([at[k][1] for k in members])
            centre, mean = (m[:, None] * x).sum(0) / m.sum(), (m[:, None] * v).sum(0) / m.sum()
            angular = (m[:, None] * np.cross(x - centre, v - mean)).sum(0) + self.L[members].sum(0)
            heaviest = m.max()
            keep = next(k for k in members if self.mass[k] == heaviest)
            r = (self.r[members] ** 3).sum() ** (1 / 3)
            self.x[keep], self.v[keep] = self.x[members[0]] + centre, mean
            self.mass[keep], self.r[keep], self.L[keep] = m.sum(), r, angular
            self.inertia[keep] = 0.4 * m.sum() * r * r * np.eye(3)
            self.mergers += len(members) - 1
            gone += [k for k in members if k != keep]
            new.add(self.id[keep])
        stay = [k for k in range(len(self.r)) if k not in gone]
        old = {(self.id[self.i[p]], self.id[self.j[p]]): self.spring[p] for p in range(self.pairs)}
        for name in ("x", "v", "q", "L", "T", "mass", "inertia", "r", "lever"):
            setattr(self, name, getattr(self, name)[stay])
        self.id = [self.id[k] for k in stay]
        self.of = np.arange(len(stay))
        self.list_pairs()
        for p in range(self.pairs):
            key = (self.id[self.i[p]], self.id[self.j[p]])
            if key[0] not in new and key[1] not in new:
                self.spring[p] = old[key]
        return new

    def run(self, steps, substeps):
        """`steps` of the engine, each in `substeps` parts (0.5: two in one); planes are controlled every 20 steps."""
        h, every = self.s["dt"] / substeps, 20
        if substeps < 1:
            steps, every, substeps = int(steps * substeps), int(every * substeps), 1
        if self.s.get("merge"):
            self.merge()
        for k in range(steps):
            if k % every == 0:
                self.servo()
            for _ in range(substeps):
                self.step(h)
                if self.s.get("merge"):
                    self.merge()
        return self

    def results(self):
        """Arrays by sphere, in the order of ids: position, velocity, angular velocity, temperature, radius."""
        turn = rotation(self.q)
        w = np.einsum("bij,bj->bi", np.linalg.inv(np.einsum("bij,bjk,blk->bil", turn, self.inertia, turn)), self.L)
        arm = np.einsum("sij,sj->si", turn[self.of], self.lever)
        r = self.evaluate(self.x, self.v, self.q, self.L, self.T, self.spring, self.t, self.shift, True)
        return {"position": self.x[self.of] + arm, "velocity": self.v[self.of] + cross(w[self.of], arm),
                "angular_velocity": w[self.of], "temperature": self.T[self.of], "radius": self.r,
                "id": np.array(self.id)[self.of], "wall": r["wall"]}
