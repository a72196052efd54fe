// A shaded surface in WebGL, seen from a camera that goes round it.

export const VERTEX = `
attribute vec3 place, normal;
attribute float away;
uniform mat4 camera;
varying vec3 facing;
varying float far;
void main() {
  gl_Position = camera * vec4(place, 1.0);
  facing = normal;
  far = away;
}`;
export const FRAGMENT = `
precision mediump float;
uniform vec3 key, eye;
varying vec3 facing;
varying float far;
void main() {
  vec3 n = normalize(facing);
  float light = 0.35 + 0.5 * max(dot(n, key), 0.0) + 0.25 * max(dot(n, eye), 0.0);
  vec3 tint = mix(vec3(0.42, 0.58, 0.74), vec3(0.93, 0.52, 0.28), clamp(far, 0.0, 1.0));
  gl_FragColor = vec4(tint * light, 1.0);
}`;

const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const scalar = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const unit = (a) => { const length = Math.hypot(...a) || 1; return a.map((x) => x / length); };

/** Where one looks from: angles [rad] about `centre` [m], at a distance [m]; "y" or "z" is up. */
export class Camera {
  constructor(centre, distance, up) {
    Object.assign(this, { centre, distance, up, yaw: 0.6, pitch: 0.3 });
  }

  /** Directions to the right, up and towards the eye. */
  axes() {
    const level = Math.cos(this.pitch), [a, b, c] = [level * Math.sin(this.yaw), Math.sin(this.pitch), level * Math.cos(this.yaw)];
    const back = this.up === "z" ? [a, -c, b] : [a, b, c];
    const right = unit(cross(this.up === "z" ? [0, 0, 1] : [0, 1, 0], back));
    return { right, above: cross(back, right), back };
  }

  /** The matrix that WebGL takes, column by column. */
  matrix(aspect) {
    const { right, above, back } = this.axes(), f = 2.2, near = 0.05 * this.distance, far = 20 * this.distance;
    const eye = this.centre.map((x, k) => x + this.distance * back[k]);
    const depth = (far + near) / (near - far), shift = (2 * far * near) / (near - far);
    const rows = [
      [...right.map((x) => (f / aspect) * x), (-f / aspect) * scalar(right, eye)],
      [...above.map((x) => f * x), -f * scalar(above, eye)],
      [...back.map((x) => depth * x), -depth * scalar(back, eye) + shift],
      [...back.map((x) => -x), scalar(back, eye)],
    ];
    return new Float32Array([0, 1, 2, 3].flatMap((k) => rows.map((row) => row[k])));
  }

  /** Where a place [m] is on the screen, from -1 to 1, and how far in front of the eye [m]. */
  project(place, aspect) {
    const M = this.matrix(aspect), at = (k) => M[k] * place[0] + M[4 + k] * place[1] + M[8 + k] * place[2] + M[12 + k];
    return [at(0) / at(3), at(1) / at(3), at(3)];
  }

  /** The way [m] that a move on the screen means at a depth [m]. */
  unproject(dx, dy, depth, aspect) {
    const { right, above } = this.axes();
    return right.map((x, k) => ((dx * aspect * x + dy * above[k]) * depth) / 2.2);
  }
}

/** Normals (s, 3) of a surface, by the areas of its triangles. */
export function findNormals(places, triangles) {
  const out = new Float32Array(places.length), corner = (v) => [places[3 * v], places[3 * v + 1], places[3 * v + 2]];
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [corner(triangles[t]), corner(triangles[t + 1]), corner(triangles[t + 2])];
    const n = cross(subtract(b, a), subtract(c, a));
    for (let k = 0; k < 3; k++) for (let i = 0; i < 3; i++) out[3 * triangles[t + k] + i] += n[i];
  }
  return out;
}

export class Surface {
  constructor(canvas, triangles) {
    const gl = canvas.getContext("webgl", { antialias: true, alpha: true });
    if (!gl) throw new Error("this browser has no WebGL.");
    if (!gl.getExtension("OES_element_index_uint")) throw new Error("this browser draws small surfaces only.");
    this.gl = gl;
    this.canvas = canvas;
    this.triangles = triangles;
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    gl.useProgram(program);
    this.uniforms = Object.fromEntries(["camera", "key", "eye"].map((name) => [name, gl.getUniformLocation(program, name)]));
    this.inputs = [["place", 3], ["normal", 3], ["away", 1]].map(([name, size]) => {
      const at = gl.getAttribLocation(program, name);
      gl.enableVertexAttribArray(at);
      return { at, size, buffer: gl.createBuffer() };
    });
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint32Array(triangles), gl.STATIC_DRAW);
    gl.enable(gl.DEPTH_TEST);
  }

  /** Width by height of what is seen. */
  get aspect() {
    return this.canvas.clientWidth / Math.max(this.canvas.clientHeight, 1);
  }

  /** Draw places (s, 3) [m]; away (s) from 0 to 1 colours them. */
  draw(places, away, camera) {
    const { gl, canvas } = this, ratio = globalThis.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight].map((size) => Math.round(size * ratio));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const arrays = [new Float32Array(places), findNormals(places, this.triangles), new Float32Array(away)];
    this.inputs.forEach(({ at, size, buffer }, k) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, arrays[k], gl.DYNAMIC_DRAW);
      gl.vertexAttribPointer(at, size, gl.FLOAT, false, 0, 0);
    });
    const { right, above, back } = camera.axes();
    gl.uniformMatrix4fv(this.uniforms.camera, false, camera.matrix(this.aspect));
    gl.uniform3fv(this.uniforms.eye, new Float32Array(back));
    gl.uniform3fv(this.uniforms.key, new Float32Array(unit(above.map((x, k) => x + 0.6 * back[k] - 0.5 * right[k]))));
    gl.drawElements(gl.TRIANGLES, this.triangles.length, gl.UNSIGNED_INT, 0);
  }
}
